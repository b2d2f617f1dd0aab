import { literal, quoted } from '../../api/sql.js'

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
 * The statement that trains a model.
 *
 * @example statementOf({ …, db: 'files', query: 'SELECT * FROM homes', project: 'mindsdb', name: 'rent', target: 'rent' })
 * // CREATE MODEL `mindsdb`.`rent` FROM `files` (SELECT * FROM homes) PREDICT `rent`
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
    `FROM ${quoted(db)} (${query})`,
    `PREDICT ${quoted(target)}`,
    ...series,
    ...(using.length === 0 ? [] : [`USING ${using.join(', ')}`]),
  ].join('\n')
}
