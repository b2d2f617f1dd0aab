import { setTimeout as sleep } from 'node:timers/promises'
import { ask, service, trainModel, upload, type Target } from '../harness/harness.js'

const rows = 1_000_000

/** Four features and a target that they explain except for noise, one row per line. With more noise, trees stop improving sooner. */
export const table = (rows: number, noise = 0.2): string => {
  const lines = ['a,b,c,kind,y']
  let state = 7
  const uniform = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  for (let i = 0; i < rows; i++) {
    const [a, b, c, kind] = [uniform(), uniform(), uniform(), Math.floor(uniform() * 6)]
    const y = Math.sin(6 * a) + b * c + kind / 3 + uniform() * noise
    lines.push(`${a.toFixed(4)},${b.toFixed(4)},${c.toFixed(4)},k${kind},${y.toFixed(4)}`)
  }
  return lines.join('\n')
}

const prepare = async (target: Target): Promise<void> => {
  await upload(target, 'big', 'big.csv', table(rows))
  await trainModel(target, 'm', 'CREATE MODEL mindsdb.m FROM files (SELECT * FROM big LIMIT 10000) PREDICT y USING seed = 7')
}

const quantile = (values: readonly number[], q: number): number =>
  [...values].sort((x, y) => x - y)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? NaN

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now()
  await work()
  return performance.now() - from
}

/** The latency of other SELECTs, one after another, while `busy` is under way. */
export const beside = async (target: Target, busy: Promise<unknown>): Promise<number[]> => {
  const took: number[] = []
  let over = false
  const ended = busy.finally(() => (over = true))
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- `over` is set when `busy` ends
  while (!over) {
    took.push(await timed(() => ask(target, `SELECT count(*), ${took.length} FROM mindsdb.models`)))
    await sleep(5)
  }
  await ended
  return took
}

export const printLatency = (label: string, took: readonly number[]) =>
  console.log(
    `  ${label}  p50 ${quantile(took, 0.5).toFixed(1)} ms   p99 ${quantile(took, 0.99).toFixed(1)} ms   longest ${Math.max(...took).toFixed(1)} ms   of ${took.length}`,
  )

/** A JOIN that scores a million rows, and the latency of small SELECTs meanwhile. */
export const scoring = async (): Promise<void> => {
  const target = await service()
  try {
    await prepare(target)
    const idle = await beside(target, sleep(5000))
    const during: number[] = []
    const seconds: number[] = []
    for (let round = 0; round < 3; round++) {
      const from = performance.now()
      const join = ask(target, 'SELECT count(*), avg(m.y) FROM files.big AS t JOIN mindsdb.m AS m')
      during.push(...(await beside(target, join)))
      seconds.push((performance.now() - from) / 1000)
    }
    console.log(`scoring: ${(rows / quantile(seconds, 0.5) / 1000).toFixed(0)} thousand rows/s in a JOIN over ${rows} rows`)
    printLatency('SELECT alone     ', idle)
    printLatency('SELECT beside it ', during)
  } finally {
    await target.stop()
  }
}
