import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { isLong } from '../dist/test/support/counts.js'

const minute = 60_000

export default {
  rootDir: fileURLToPath(new URL('../dist', import.meta.url)),
  testMatch: ['<rootDir>/test/**/*.test.js'],
  testEnvironment: fileURLToPath(new URL('jest-environment.mjs', import.meta.url)),
  runtime: fileURLToPath(new URL('jest-runtime.cjs', import.meta.url)),
  transform: {},
  // Tests import what they use. At the end of a file Jest would take apart what it gave to its global object, also what other files share.
  injectGlobals: false,
  // A test often waits for a disk, or for a process that it started: two workers more than there are processors keep all of them busy.
  maxWorkers: availableParallelism() + 2,
  // A worker keeps the memory that its test files leave behind, and a large heap is slow. So a new worker takes its place.
  workerIdleMemoryLimit: '600MB',
  testSequencer: fileURLToPath(new URL('jest-sequencer.mjs', import.meta.url)),
  // This limit only ends a test that hangs. It measures no speed: a test takes many times as long beside other work.
  testTimeout: isLong ? 24 * 60 * minute : 30 * minute,
}
