import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, service, trainModel, upload, type Target } from '../harness/harness.js'
import { beside, printLatency } from './scoring.js'

const repeats = 10

const prepare = async (target: Target, folder: string): Promise<void> => {
  await upload(target, 'housing', 'housing.csv', readFileSync(join(folder, 'california_housing.csv'), 'utf8'))
  await trainModel(target, 'price', 'CREATE MODEL mindsdb.price FROM files (SELECT * FROM housing) PREDICT median_house_value')
}

const rounds = 3

/** Scoring with the default model of california_housing in SQL, and the latency of small SELECTs meanwhile. */
export const california = async (folder: string): Promise<void> => {
  const target = await service()
  try {
    await prepare(target, folder)
    const [[rows]] = (await ask(target, `SELECT count(*) FROM files.housing, range(${repeats})`)) as [[number]]
    const plan = JSON.stringify((await ask(target, "SELECT * FROM mindsdb.models WHERE name = 'price'"))[0])
    const trees = /"trees":(\d+)/.exec(plan)?.[1]
    const many = `(SELECT h.* FROM files.housing AS h, range(${repeats}))`
    for (const [what, columns] of [
      ['values', 'avg(m.median_house_value)'],
      ['values and bounds', 'avg(m.median_house_value), avg(m.median_house_value_min), avg(m.median_house_value_max)'],
    ] as const) {
      const [seconds, during]: [number[], number[]] = [[], []]
      for (let round = 0; round < rounds; round++) {
        const from = performance.now()
        const joined = ask(target, `SELECT count(*), ${columns} FROM ${many} AS t JOIN mindsdb.price AS m`)
        during.push(...(await beside(target, joined)))
        seconds.push((performance.now() - from) / 1000)
      }
      const speed = rows / (seconds.sort((a, b) => a - b)[rounds >> 1] ?? NaN) / 1000
      console.log(
        `model: ${what} of california_housing's default model${trees === undefined ? '' : ` (${trees} trees)`}: ${speed.toFixed(0)} thousand rows/s in SQL`,
      )
      printLatency('SELECT beside it', during)
    }
  } finally {
    await target.stop()
  }
}
