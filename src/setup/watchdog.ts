import { workerData } from 'node:worker_threads'

const lookEveryMs = 200

// If the parent process is gone, nobody needs the result. The call of the main thread may never return.
setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, 'SIGKILL')
}, lookEveryMs)
