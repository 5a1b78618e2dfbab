def factorial(n
