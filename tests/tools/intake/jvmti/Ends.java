// Works for a moment, says something, and ends in the way of its argument.

import java.io.IOException;

public class Ends {
    static int work(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i * 31 ^ sum;
        }
        return sum;
    }

    static void spawn() throws IOException, InterruptedException {
        Process child = new ProcessBuilder("sh", "-c", "echo child; exit 5").start();
        System.out.print(new String(child.getInputStream().readAllBytes()));
        System.exit(child.waitFor());
    }

    static void runThreads() throws InterruptedException {
        Thread[] threads = new Thread[20];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> work(100_000));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
            System.out.println(thread.getName());
        }
    }

    public static void main(String[] args) throws Exception {
        int sum = 0;
        for (int i = 0; i < 100_000; i++) {
            sum += work(1_000);
        }
        System.out.println("sum " + sum);
        System.err.println("on stderr");
        switch (args[0]) {
            case "exit": System.exit(3);
            case "halt": Runtime.getRuntime().halt(4);
            case "throw": throw new IllegalStateException("uncaught");
            case "spawn": spawn();
            case "threads": runThreads();
            default:
        }
    }
}
