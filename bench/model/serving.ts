import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeMatrix } from '../../src/models/data/matrix-format.js'
import { MatrixBuilder } from '../../src/models/data/matrix.js'
import { Trainer, type Training } from '../../src/models/training/trainer.js'
import type { ColumnType } from '../../src/models/data/values.js'
import { compare, compiled, median, send, serverOf, service, serviceWith, upload, type Target } from '../harness/harness.js'
import { artefactIn, path, row, train } from './predict.js'
import { makeDirectory, removeDirectory } from '../harness/processes.js'
import { table } from './scoring.js'

/** Enough rows for a training that lasts longer than a load. */
const rows = 300_000
const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
const types: readonly ColumnType[] = ['number', 'number', 'number', 'text', 'number']

const writeMatrix = (file: string, csv: string): void => {
  const [header = '', ...lines] = csv.split('\n')
  const builder = new MatrixBuilder(header.split(',').map((name, index) => ({ name, type: types[index] ?? 'number' })))
  for (const line of lines) builder.addRow(line.split(','))
  writeFileSync(file, encodeMatrix(builder.build(0)))
}

/** Waits until the training boosts its folds, which takes most of its time. */
const startTraining = async (target: Target): Promise<void> => {
  await send(target, 'POST', '/api/projects/mindsdb/models', {
    query: 'CREATE MODEL mindsdb.long FROM files (SELECT * FROM big) PREDICT y',
  })
  // A prediction request to a model in training gets its progress as the answer.
  const body = JSON.stringify([{}])
  for (let waited = 0; waited < 60_000; waited += 100) {
    const answer = await fetch(`${target.url}/api/projects/mindsdb/models/long/predict`, { ...post, body })
    const { progress } = (await answer.json()) as { progress?: { phase: string } }
    if (progress?.phase === 'folds') return
    await sleep(100)
  }
  throw new Error('the training does not come to its folds')
}

/** Starts the same training beside the bare server. */
const startBare = async (matrixFile: string): Promise<Training> => {
  let isBoosting = false
  const training = new Trainer().train({ matrixFile, artefactFile: `${matrixFile}.artefact`, options: { target: 'y' } }, ({ phase }) => {
    isBoosting ||= phase === 'folds'
  })
  training.result.catch(() => undefined)
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- it is set while this waits
  while (!isBoosting) await sleep(100)
  return training
}

/** Predicting one row over REST while a model trains, 16 connections, compared with the bare server while the same model trains. */
export const serving = async (): Promise<void> => {
  const directory = makeDirectory('serving')
  const [artefact, matrix, delays] = ['artefact', 'matrix', 'delay'].map((name) => join(directory, name)) as [string, string, string]
  const csv = table(rows)
  writeMatrix(matrix, csv)
  const first = await service()
  await train(first)
  copyFileSync(artefactIn(first.directory), artefact)
  await first.stop()

  const watched = { LOOP_DELAY_FILE: delays, NODE_OPTIONS: `--import=${compiled('bench/model/watch-loop.js')}` }
  const measured: number[] = []
  let training: Training | undefined
  await compare('predict while a model trains', {
    ours: serviceWith(watched),
    bare: serverOf('bare', 'bench/bare/predict.js', [], '/ready', { ARTEFACT: artefact }),
    prepare: async (target) => {
      if (target.name === 'bare') {
        training = await startBare(matrix)
        return
      }
      await train(target)
      await upload(target, 'big', 'big.csv', csv)
      await startTraining(target)
      process.kill(target.pid, 'SIGUSR2')
      await sleep(3000)
      measured.push(Number(readFileSync(delays, 'utf8')))
    },
    finish: async (target) => {
      if (target.name === 'bare') training?.cancel()
      else if (((await send(target, 'GET', '/api/projects/mindsdb/models/long')) as { status: string }).status !== 'training')
        throw new Error('the training was over before the load')
    },
    load: {
      connections: 16,
      seconds: 5,
      request: () => ({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify([row]) }),
    },
    rounds: 3,
  })
  console.log(`  event loop of the server while a model trains and nobody asks: p99 ${median(measured).toFixed(1)} ms`)
  removeDirectory(directory)
}
