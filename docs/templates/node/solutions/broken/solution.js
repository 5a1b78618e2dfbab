// Ends with an error before it prints anything.
throw new Error("not finished");
