import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import { Blobs } from '../../../src/files/blobs.js'
import { findEngine } from '../../../src/models/engines/engines.js'
import { encodeMatrix } from '../../../src/models/data/matrix-format.js'
import { MatrixBuilder } from '../../../src/models/data/matrix.js'
import { reproduce } from '../../../src/models/training/reproduction.js'
import { runtimeHere } from '../../../src/models/training/training-record.js'
import { Trainer } from '../../../src/models/training/trainer.js'
import { temporaryDirectory } from '../../support/service.js'

const matrix = () => {
  const builder = new MatrixBuilder([
    { name: 'a', type: 'number' },
    { name: 'y', type: 'number' },
  ])
  for (let i = 0; i < 60; i++) builder.addRow([i, (i * 37) % 11])
  return builder.build(7)
}

let directory: ReturnType<typeof temporaryDirectory>
beforeEach(() => {
  directory = temporaryDirectory()
})
afterEach(() => directory.remove())

const seed = 7
const request = { engine: 'linear', target: 'y', database: 'files', query: 'SELECT 1', using: {}, seed, activate: true, tag: null }

/** Reproduces a version that was trained here, but for what its event says otherwise. */
const reproduction = async (said: { artefact?: string; runtime?: object; engine?: object } = {}) => {
  const engine = findEngine('linear')
  const { artefact } = await engine.train(matrix(), { target: 'y', seed }, () => undefined)
  const blobs = new Blobs(directory.path)
  const result = {
    ...{ version: 1, read_at: 1, rows: 60, accuracy: null, seconds: 1 },
    artefact: said.artefact ?? createHash('sha256').update(artefact).digest('hex'),
    matrix: await blobs.putBytes(encodeMatrix(matrix())),
    report: { engine: { name: 'linear', version: engine.version, ...said.engine } },
    runtime: { ...runtimeHere(), ...said.runtime },
  }
  const version = { ...request, version: 1, status: 'complete' as const, error: null, result }
  const log = { readStream: async () => [], payload: async () => undefined }
  const parts = { blobs, log, trainer: new Trainer(), work: directory.path, onProgress: () => undefined }
  return reproduce({ version, result }, parts)
}
const other = 'ab'.repeat(32)

test('the same bytes are reproduced', async () => {
  expect(await reproduction()).toMatchObject({ result: 'reproduced', reason: null })
})

test('other bytes are different, where nothing but the event itself can be the reason', async () => {
  expect(await reproduction({ artefact: other })).toMatchObject({ result: 'different', reason: null, artefact: other })
})

test('other bytes on another runtime prove nothing, and it is said which', async () => {
  expect(await reproduction({ artefact: other, runtime: { v8: '1.2.3' } })).toMatchObject({
    result: 'impossible',
    reason: 'runtime',
    detail: expect.stringContaining(`v8 1.2.3 there, ${process.versions.v8} here`),
  })
  expect(await reproduction({ runtime: { v8: '1.2.3' } })).toMatchObject({
    result: 'reproduced',
    detail: expect.stringContaining('v8 1.2.3'),
  })
})

test('another version of the engine, or one that is not there, is not tried', async () => {
  expect(await reproduction({ engine: { version: '0.0.1' } })).toMatchObject({
    result: 'impossible',
    reason: 'engine_version',
    retrained: null,
    detail: expect.stringContaining('linear 0.0.1'),
  })
  expect(await reproduction({ engine: { name: 'magic' } })).toMatchObject({
    reason: 'engine_version',
    detail: expect.stringContaining('no engine here'),
  })
})
