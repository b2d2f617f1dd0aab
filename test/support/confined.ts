import { test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { confined } from '../../src/setup/confinement.js'

/** What a process of this machine says after it gave up its rights. */
const result = ((): string => {
  const { execArgv, env } = confined({ writable: [] })
  return execFileSync(process.execPath, [...execArgv, '-p', 'process.env.CONFINEMENT'], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  }).trim()
})()

/** A test that needs Landlock: a part of Linux since 5.13, which ends the right to write files. */
export const whereWritesEnd = /^landlock/i.test(result) ? test : test.skip

/** A test that needs all of it: since Linux 6.12 files cannot be truncated either, no port is reached, and no other process is signalled. */
export const whereConfined = result === 'landlock' ? test : test.skip
