import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { encodeMatrix } from '../../../src/models/data/matrix-format.js'
import { Trainer } from '../../../src/models/training/trainer.js'
import { friedman, matrixOf } from '../../unit/models/tables.js'
import { train } from '../../support/models/train.js'

const ignore = () => undefined

describe('training in a process of its own', () => {
  let folder: string
  const file = (name: string) => join(folder, name)
  const job = (matrix: string, artefact: string, target = 'y') => ({
    matrixFile: file(matrix),
    artefactFile: file(artefact),
    options: { target, seed: 3 },
  })

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'trainer-'))
    writeFileSync(file('small'), encodeMatrix(matrixOf(friedman(100, 1), 3)))
    writeFileSync(file('large'), encodeMatrix(matrixOf(friedman(30_000, 1), 3)))
    writeFileSync(file('broken'), 'no matrix')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('gives the bytes that training gives here, and says how far it is', async () => {
    const phases: string[] = []
    const { report, artefactSha256 } = await new Trainer().train(job('small', 'artefact'), ({ phase }) => phases.push(phase)).result
    const here = train(matrixOf(friedman(100, 1), 3), { target: 'y', seed: 3 })
    const there = readFileSync(file('artefact'))
    expect(there.equals(here.artefact)).toBe(true)
    expect(artefactSha256).toBe(createHash('sha256').update(there).digest('hex'))
    expect(report).toEqual(here.report)
    expect([...new Set(phases)]).toEqual(['prepare', 'folds', 'linear', 'refit', 'interval'])
  })

  it('passes a refusal on as it was', async () => {
    await expect(new Trainer().train(job('small', 'none', 'price'), ignore).result).rejects.toMatchObject({
      code: 'wrong_arguments',
      detail: expect.stringContaining('no column "price"'),
    })
  })

  it.each(['y_min', 'Y_Explain', 'when_data'])('refuses rows with a column %s, which the answers have', async (name) => {
    writeFileSync(file('rows'), Array.from({ length: 20 }, (_, row) => `[${row},${row * 2}]`).join('\n'))
    const columns = [
      { name, type: 'INTEGER' },
      { name: 'y', type: 'INTEGER' },
    ]
    const rows = { file: file('rows'), columns }
    await expect(new Trainer().train({ ...job('made', 'none'), rows }, ignore).result).rejects.toMatchObject({
      code: 'wrong_arguments',
      detail: `"${name}" is also a column of the answers of a model that predicts "y"`,
    })
  })

  it('refuses a broken matrix as a fault of its own', async () => {
    await expect(new Trainer().train(job('broken', 'none'), ignore).result).rejects.toMatchObject({ code: 'internal' })
  })

  it('ends a training that is cancelled', async () => {
    const { result, cancel } = new Trainer().train(job('large', 'none'), ({ phase }) => {
      if (phase === 'folds') cancel()
    })
    await expect(result).rejects.toMatchObject({ title: 'Training cancelled' })
  })

  it('kills a training that takes too long', async () => {
    await expect(new Trainer(500).train(job('large', 'none'), ignore).result).rejects.toMatchObject({
      code: 'query_limit',
      detail: expect.stringContaining('500 ms'),
    })
  })

  it('refuses a training whose process cannot be started, and nothing else ends', async () => {
    const entry = new URL('../../../src/models/training/trainer.js', import.meta.url).href
    const script = `
      import { closeSync, openSync } from 'node:fs'
      import { Trainer } from ${JSON.stringify(entry)}
      const open = []
      try { for (;;) open.push(openSync('/dev/null')) } catch {}
      new Trainer().train({}, () => {}).result.catch(({ code, detail }) => {
        open.forEach((descriptor) => closeSync(descriptor))
        console.log(code + ': ' + detail)
      })`
    const few = ['-c', 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, script]
    const running = spawn('sh', few, { stdio: ['ignore', 'pipe', 'ignore'] })
    let said = ''
    running.stdout.on('data', (text: Buffer) => (said += text.toString()))
    const [exit] = (await once(running, 'close')) as [number]
    expect({ said, exit }).toEqual({ said: 'internal: The training process could not be started\n', exit: 0 })
  })

  it('leaves no training behind when its parent dies', async () => {
    const entry = new URL('../../../src/models/training/train-process.js', import.meta.url).pathname
    const parent = `
      const child = require('node:child_process').fork(${JSON.stringify(entry)}, [], { execArgv: [], stdio: ['ignore', 'inherit', 'ignore', 'ipc'] })
      child.on('message', ({ progress }) => { if (progress?.phase === 'folds') require('node:fs').writeSync(1, 'dies'), process.kill(process.pid, 'SIGKILL') })
      child.send(${JSON.stringify(job('large', 'orphaned'))})`
    const running = spawn(process.execPath, ['--input-type=commonjs', '-e', parent], { stdio: ['ignore', 'pipe', 'ignore'] })
    let said = ''
    running.stdout.on('data', (text: Buffer) => (said += text.toString()))
    // The training holds the other end of the pipe too: it closes when both are gone.
    await once(running, 'close')
    expect(said).toBe('dies')
    expect(existsSync(file('orphaned'))).toBe(false)
  })
})
