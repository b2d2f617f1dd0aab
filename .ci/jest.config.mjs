import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

export default {
  rootDir: fileURLToPath(new URL('../dist', import.meta.url)),
  testMatch: ['<rootDir>/test/**/*.test.js'],
  testEnvironment: fileURLToPath(new URL('jest-environment.mjs', import.meta.url)),
  transform: {},
  // A test often waits for a process that it started: one worker more than there are processors keeps all of them busy.
  maxWorkers: availableParallelism() + 1,
  testTimeout: 240_000,
}
