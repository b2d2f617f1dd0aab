import { copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { compare, sameAnswer, send, serverOf, service, trainModel, upload, type Target } from '../harness/harness.js'
import { makeDirectory, removeDirectory } from '../harness/processes.js'

export const path = '/api/projects/mindsdb/models/mpg/predict'
export const row = { Cylinders: 4, Displacement: 120, Horsepower: 88, Weight_in_lbs: 2400, Acceleration: 16, Origin: 'Japan' }
const cars = join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '..', 'data', 'cars.json')

export const train = async (target: Target) => {
  await upload(target, 'cars', 'cars.json', readFileSync(cars, 'utf8'))
  const query = 'CREATE MODEL mindsdb.mpg FROM files (SELECT * EXCLUDE (Name, Year) FROM cars) PREDICT Miles_per_Gallon USING seed = 7'
  await trainModel(target, 'mpg', query)
}

/** The artefact that a service trained: the blob that begins with the engine's magic. */
export const artefactIn = (directory: string): string => {
  const blobs = readdirSync(join(directory, 'blobs')).map((name) => join(directory, 'blobs', name))
  const found = blobs.filter((file) => statSync(file).isFile() && readFileSync(file).subarray(0, 7).toString() === 'MLBOOST')
  if (found[0] === undefined) throw new Error('no artefact was found')
  return found[0]
}

/** Predicting one row over REST with recording, 16 connections. */
export const predict = async (): Promise<void> => {
  const keep = makeDirectory('artefact')
  const artefact = join(keep, 'artefact')
  const first = await service()
  await train(first)
  copyFileSync(artefactIn(first.directory), artefact)
  await first.stop()
  const bare = serverOf('bare', 'bench/bare/predict.js', [], '/ready', { ARTEFACT: artefact })
  const prepare = async (target: Target) => {
    if (target.name === 'service') await train(target)
  }
  await sameAnswer([service, bare], async (target) => {
    await prepare(target)
    return send(target, 'POST', path, [row])
  })
  await compare('predict', {
    ours: service,
    bare,
    prepare,
    load: {
      connections: 16,
      seconds: 5,
      request: () => ({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify([row]) }),
    },
  })
  removeDirectory(keep)
}
