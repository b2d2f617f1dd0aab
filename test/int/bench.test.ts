import { expect, test } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { until } from '../support/until.js'
import { isRunning } from '../support/processes.js'

const harness = new URL('../../bench/harness/harness.js', import.meta.url).href

/** A comparison that has a server under way, and what it does then. */
const comparison = async (then: string): Promise<{ child: ChildProcess; pid: number; directory: string; ended: Promise<unknown[]> }> => {
  const code = `import { serverOf } from ${JSON.stringify(harness)}
    const { pid, directory } = await serverOf('bare', 'bench/bare/write.js', [], '/ready')()
    console.log(JSON.stringify({ pid, directory }))
    ${then}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'exit')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return { child, ended, ...(JSON.parse(line) as { pid: number; directory: string }) }
}

const wait = 'setInterval(() => undefined, 1_000)'

test.each([
  ['throws', "throw new Error('they differ')", undefined],
  ['is told to end', wait, 'SIGTERM'],
  ['is interrupted', wait, 'SIGINT'],
  ['loses the reader of its output', "setInterval(() => console.log('x'.repeat(100_000)), 5)", 'EPIPE'],
] as const)('a comparison that %s leaves no server and no directory behind', async (_, then, how) => {
  const { child, pid, directory, ended } = await comparison(then)
  if (how === 'EPIPE') child.stdout?.destroy()
  else if (how) child.kill(how)
  const [code] = await ended
  expect(code).toBeGreaterThan(0)
  await until(() => !isRunning(pid))
  expect(existsSync(directory)).toBe(false)
})
