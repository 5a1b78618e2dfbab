// Goroutines on several threads, and a subprocess.
package main

import (
	"fmt"
	"os/exec"
	"sync"
)

func main() {
	var group sync.WaitGroup
	results := make(chan int, 100)
	for i := 0; i < 100; i++ {
		group.Add(1)
		go func() { defer group.Done(); results <- 1 }()
	}
	group.Wait()
	err := exec.Command("sh", "-c", "exit 3").Run()
	fmt.Println(len(results), "goroutines, child", err.(*exec.ExitError).ExitCode())
}
