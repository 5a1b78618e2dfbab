import java.util.stream.IntStream;

/** Threads, a subprocess, a digest (which reads the JVM's settings) and a temporary file. */
class Threads {
    public static void main(String[] arguments) throws Exception {
        int sum = IntStream.range(0, 1000).parallel().map(i -> 1).sum();
        Thread[] threads = new Thread[8];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> Thread.yield());
            threads[i].start();
        }
        for (Thread t : threads) t.join();
        int child = new ProcessBuilder("sh", "-c", "exit 3").start().waitFor();
        java.security.MessageDigest.getInstance("SHA-256").digest(new byte[10]);
        java.nio.file.Files.delete(java.nio.file.Files.createTempFile("a", "b"));
        System.out.println(sum + " in parallel, child " + child);
    }
}
