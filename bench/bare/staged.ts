import { DOUBLE, DuckDBDataChunk, DuckDBInstance, type DuckDBVector } from '@duckdb/node-api'
import { readFileSync } from 'node:fs'
import { loadPredictor, outputs } from '../../src/models/engines/tabular/predictor.js'

// The minimum that scores a table beside its query: stream the inputs out, score each chunk with the same engine, append the scores to a
// temporary table, and run the outer query over both. It never yields to other work, and records nothing.
const [, , file = '', artefact = ''] = process.argv
const model = loadPredictor(readFileSync(artefact))
const names = model.inputs.map(({ name }) => name).join(', ')
const instance = await DuckDBInstance.create(':memory:', { threads: '2' })

const itemsOf = (vector: DuckDBVector): Float64Array => Reflect.get(vector, 'items') as Float64Array

const run = async () => {
  const from = performance.now()
  const [reading, writing] = [await instance.connect(), await instance.connect()]
  await writing.run('CREATE TEMP TABLE scores (y DOUBLE)')
  const appender = await writing.createAppender('scores', 'main', 'temp')
  const result = await reading.stream(`SELECT ${names} FROM read_parquet('${file}')`)
  const features = new Float64Array(2048 * model.width)
  const out = new Float64Array(2048 * model.outputWidth)
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    const rows = chunk.rowCount
    const columns = model.inputs.map((_, i) => {
      const vector = chunk.getColumnVector(i)
      const items: unknown = itemsOf(vector)
      return { values: items instanceof Float64Array ? items : vector.toArray() }
    })
    model.encodeColumns(columns, rows, features)
    model.predictPoints(features, rows, out)
    const scored = DuckDBDataChunk.create([DOUBLE], rows)
    const vector = scored.getColumnVector(0)
    const items = itemsOf(vector)
    for (let row = 0; row < rows; row++) items[row] = out[row * model.outputWidth + outputs.value] ?? NaN
    vector.flush()
    appender.appendDataChunk(scored)
  }
  appender.closeSync()
  const outer = `SELECT t.kind, count(*)::INTEGER, round(avg(m.y), 9) FROM read_parquet('${file}') AS t POSITIONAL JOIN temp.scores AS m GROUP BY ALL ORDER BY ALL`
  const answer = (await writing.runAndReadAll(outer)).getRowsJson()
  for (const connection of [reading, writing]) connection.closeSync()
  return { seconds: (performance.now() - from) / 1000, answer }
}

process.on('message', () => void run().then((told) => process.send?.(told)))
