import { literal, quoted } from '../../api/sql.js'

/** A query, and the database in which its names are looked up. A connected database gets the query as it is, in its own language. */
export type RowsQuery = { db: string | null; query: string }

/** The plan of a training. An empty text means that the part is absent; with `order` it is a series model. */
export type Plan = {
  db: string
  query: string
  project: string
  name: string
  target: string
  /** Columns that the model does not learn from. */
  without: string[]
  engine: string
  order: string
  group: string
  horizon: number
}

/**
 * The rows of a query, as they stand after FROM. A comment or a semicolon at its end must not reach the bracket.
 *
 * @example rowsOf({ db: 'files', query: 'SELECT * FROM homes;' }) // '`files` (\nSELECT * FROM homes\n)'
 */
export const rowsOf = ({ db, query }: RowsQuery): string => `${db === null ? '' : `${quoted(db)} `}(\n${query.replace(/[;\s]+$/, '')}\n)`

/**
 * The statement that trains a model.
 *
 * @example statementOf({ …, db: 'files', query: 'SELECT * FROM homes', project: 'mindsdb', name: 'rent', target: 'rent' })
 * // CREATE MODEL `mindsdb`.`rent` FROM `files` (\nSELECT * FROM homes\n) PREDICT `rent`
 */
export const statementOf = ({ db, query, project, name, target, without, engine, order, group, horizon }: Plan): string => {
  const series =
    order === '' ? [] : [`ORDER BY ${quoted(order)}`, ...(group === '' ? [] : [`GROUP BY ${quoted(group)}`]), `HORIZON ${horizon}`]
  const using =
    order === ''
      ? [
          ...(engine === '' ? [] : [`engine = ${literal(engine)}`]),
          ...(without.length === 0 ? [] : [`exclude = [${without.map(literal).join(', ')}]`]),
        ]
      : []
  return [
    `CREATE MODEL ${quoted(project)}.${quoted(name)}`,
    `FROM ${rowsOf({ db, query })}`,
    `PREDICT ${quoted(target)}`,
    ...series,
    ...(using.length === 0 ? [] : [`USING ${using.join(', ')}`]),
  ].join('\n')
}
