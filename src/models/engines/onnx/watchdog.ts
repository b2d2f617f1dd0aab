import { workerData } from 'node:worker_threads'

const lookEveryMs = 200

// A process whose parent is gone runs its model for nobody. The thread that runs it may never return.
setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL')
}, lookEveryMs)
