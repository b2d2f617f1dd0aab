import { workerData } from 'node:worker_threads'

const lookEveryMs = 200

// A process whose parent has gone has nobody to run a model for. The thread that runs it may never come back.
setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL')
}, lookEveryMs)
