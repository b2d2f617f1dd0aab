import { afterAll, describe, expect, test } from '@jest/globals'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isProblem } from '../../../../src/basics/errors.js'
import type { Run } from '../../../../src/models/engines/onnx/messages.js'
import { OnnxProcess, type OnnxLimits } from '../../../../src/models/engines/onnx/process.js'
import { OnnxProcesses } from '../../../../src/models/engines/onnx/processes.js'
import { until } from '../../../support/until.js'
import { onnxPath } from '../../../support/models/onnx-models.js'
import { isRunning, signalTo } from '../../../support/processes.js'

const started: OnnxProcess[] = []
afterAll(() => started.forEach((process) => process.end()))

const processOf = (name: string, limits: Partial<OnnxLimits> = {}): OnnxProcess => {
  const process = new OnnxProcess({ file: onnxPath(name), offset: 0 }, limits)
  started.push(process)
  return process
}

const rows = (first: number[], output: string, batch = 16): Run => ({
  tensors: [{ name: 'X', type: 'float32', columns: 2, flat: false }],
  columns: [Float64Array.from(first), new Float64Array(first.length)],
  rows: first.length,
  batch,
  outputs: [output],
})

describe('the process of an imported model', () => {
  test('gives a row the same bits wherever it stands among others', async () => {
    const process = processOf('boosted')
    const sizes = Array.from({ length: 100 }, (_, row) => 20 + row * 1.37)
    const [all] = await process.run(rows(sizes, 'variable'))
    for (const row of [0, 1, 15, 16, 99]) {
      const [alone] = await process.run(rows([sizes[row] ?? 0], 'variable'))
      expect(alone?.data[0]).toBe(all?.data[row])
    }
    const [reversed] = await process.run(rows([...sizes].reverse(), 'variable'))
    expect(Array.from({ length: 100 }, (_, row) => reversed?.data[99 - row])).toEqual([...(all?.data.slice(0, 100) ?? [])])
  })

  test('is ended by its deadline, and another one answers the next call', async () => {
    const process = processOf('trap', { runTimeoutMs: 10_000 })
    const [fine] = await process.run(rows([80], 'Y'))
    expect(fine?.data[0]).toBe(80)
    await expect(process.run(rows([666], 'Y'))).rejects.toMatchObject({ code: 'query_limit', title: 'The model took too long' })
    expect(process.isRunning).toBe(false)
    const [again] = await process.run(rows([81], 'Y'))
    expect(again?.data[0]).toBe(81)
  })

  test('is ended when it needs too much memory', async () => {
    const process = processOf('trap', { memoryMaxBytes: 1_000_000 })
    await expect(process.run(rows([666], 'Y'))).rejects.toMatchObject({ code: 'query_limit', title: 'The model needs too much memory' })
  })

  test('that dies takes one call with it', async () => {
    const process = processOf('linear')
    await process.run(rows([80], 'variable'))
    const before = childrenNamed('onnx-process')
    const trap = processOf('trap')
    await trap.run(rows([80], 'Y'))
    const pid = childrenNamed('onnx-process').find((child) => !before.includes(child))
    const hung = trap.run(rows([666], 'Y'))
    const killed = expect(hung).rejects.toMatchObject({ code: 'query_failed', detail: expect.stringContaining('SIGKILL') })
    // The process has the call: one that is sent to a dead process only learns that it could not be reached.
    await nextTurn()
    signalTo(pid, 'SIGKILL')
    await killed
    expect((await trap.run(rows([5], 'Y')))[0]?.data[0]).toBe(5)
    expect((await process.run(rows([80], 'variable')))[0]?.data.length).toBe(16)
  })

  test('refuses calls beyond those that may wait', async () => {
    const process = processOf('trap', { runTimeoutMs: 700, queueMaxCalls: 2 })
    const calls = [666, 1, 2].map((size) => process.run(rows([size], 'Y')))
    const codes = await Promise.all(
      calls.map((call) =>
        call.then(
          () => 'answered',
          (error: unknown) => (isProblem(error) ? error.code : String(error)),
        ),
      ),
    )
    expect(codes).toEqual(['query_limit', 'busy', 'busy'])
  })

  test('tells what the runtime says of a file that it cannot load', async () => {
    await expect(processOf('gone').signature()).rejects.toMatchObject({
      code: 'query_failed',
      detail: expect.stringMatching(/ENOENT.*open 'a file'$/),
    })
    await expect(processOf('custom').signature()).rejects.toMatchObject({
      code: 'query_failed',
      detail: expect.stringContaining('Twist'),
    })
  })

  test('ends when it was idle, and those used longest ago when there are too many', async () => {
    const idle = processOf('linear', { idleMaxMs: 50 })
    await idle.run(rows([80], 'variable'))
    expect(idle.isRunning).toBe(true)
    await until(() => !idle.isRunning)
    const processes = new OnnxProcesses(2)
    const used = [processOf('linear'), processOf('boosted'), processOf('trap')]
    for (const [index, process] of used.entries()) {
      processes.use(process)
      await process.run(rows([80], index === 2 ? 'Y' : 'variable'))
    }
    expect(used.map(({ isRunning }) => isRunning)).toEqual([false, true, true])
  })

  test('does not outlive its parent, though the model never comes back', async () => {
    const module = new URL('../../../../src/models/engines/onnx/process.js', import.meta.url).href
    const code = `import { OnnxProcess } from ${JSON.stringify(module)}
      const model = new OnnxProcess({ file: ${JSON.stringify(onnxPath('endless'))}, offset: 0 })
      await model.signature()
      void model.run(${JSON.stringify({ ...rows([1], 'Y'), columns: [[1], [0]] })})
      setTimeout(() => console.log('running'), 500)`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(parent.stdout, 'data')
    const [child] = childrenOf(parent.pid ?? 0)
    expect(child).toBeGreaterThan(0)
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    await until(() => !isRunning(child ?? 0))
  })
})

const ps = (): { pid: number; parent: number; command: string }[] =>
  execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
      return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
    })

const childrenOf = (parent: number): number[] => ps().flatMap((one) => (one.parent === parent ? [one.pid] : []))

const childrenNamed = (name: string): number[] =>
  ps().flatMap((one) => (one.parent === process.pid && one.command.includes(name) ? [one.pid] : []))
