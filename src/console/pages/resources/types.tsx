import { useSignal } from '@preact/signals'
import { exactTable } from '../../api/exact.js'
import type { ApiError } from '../../api/request.js'
import { literal, quoted, run, select, type Value } from '../../api/sql.js'
import { asApiError, useIsShown, useLoaded } from '../../basics/loading.js'
import { changeQuery } from '../../basics/place.js'
import { Busy, Refusal } from '../../components/notice.js'
import { Rows } from '../../components/rows.js'
import { countText } from '../../components/value.js'

type Column = { Field: string; Type: string } & Record<string, Value>

/** The new type of a column, and the date format of its texts. */
type ColumnChange = { type: string; format: string }

/** The changes by the names of their columns. */
type Changes = ReadonlyMap<string, ColumnChange>

const offered = ['BIGINT', 'DOUBLE', 'DECIMAL(18,4)', 'VARCHAR', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'TIME'] as const
const previewedMax = 20

const isText = (type: string): boolean => /^(?:text|varchar)/i.test(type)
const isTime = (type: string): boolean => type === 'DATE' || type === 'TIMESTAMP'

/** Converts a column's value to the chosen type; NULL if that is impossible. */
const converted = ({ Field, Type }: Column, wanted: ColumnChange | undefined): string => {
  const name = quoted(Field)
  if (wanted === undefined) return name
  const parsed =
    isText(Type) && isTime(wanted.type) && wanted.format.trim() !== '' ? `try_strptime(${name}, ${literal(wanted.format.trim())})` : name
  return `TRY_CAST(${parsed} AS ${wanted.type})`
}

/** The query for the rows of a table with changed types. @example selectOf('homes', columns, new Map([['size', { type: 'DOUBLE', format: '' }]])) */
const selectOf = (file: string, columns: readonly Column[], wanted: Changes): string =>
  `SELECT ${columns.map((column) => `${converted(column, wanted.get(column.Field))} AS ${quoted(column.Field)}`).join(', ')} FROM files.${quoted(file)}`

/** The number of values of each column that would become NULL. */
const lossOf = (file: string, columns: readonly Column[], wanted: Changes): string =>
  `SELECT ${columns
    .filter(({ Field }) => wanted.has(Field))
    .map((column) => {
      const name = quoted(column.Field)
      return `count(*) FILTER (${name} IS NOT NULL AND ${converted(column, wanted.get(column.Field))} IS NULL) AS ${name}`
    })
    .join(', ')} FROM files.${quoted(file)}`

const Outcome = ({ file, columns, wanted }: { file: string; columns: readonly Column[]; wanted: Changes }) => {
  const query = selectOf(file, columns, wanted)
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const [{ columns: shown, rows }, [lost = {}]] = await Promise.all([
        exactTable({ query: `${query} LIMIT ${previewedMax}`, signal }),
        select<Record<string, Value>>({ query: lossOf(file, columns, wanted), signal }),
      ])
      return { shown, rows, lost: Object.entries(lost).filter(([, count]) => Number(count) > 0) }
    },
    [query],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  return (
    <>
      {value.lost.length > 0 && (
        <p class="notice" role="status">
          These values cannot be converted, and would become NULL:{' '}
          {value.lost.map(([name, count]) => `${countText(Number(count))} of ${name}`).join(', ')}.
        </p>
      )}
      <Rows
        label="First rows with these types"
        columns={value.shown.map(({ name }) => name)}
        types={value.shown.map(({ type }) => type)}
        rows={value.rows}
      />
    </>
  )
}

/** Shows and changes the types of a file's columns. A change gives the file new content; time travel still reads the old content. */
export const Types = ({ file, done }: { file: string; done: () => void }) => {
  const { loaded, reload } = useLoaded((signal) => select<Column>({ query: `DESCRIBE files.${quoted(file)}`, signal }), [file])
  const wanted = useSignal<Changes>(new Map())
  const error = useSignal<ApiError | undefined>(undefined)
  const isSending = useSignal(false)
  const isShown = useIsShown()
  const { value: columns, error: refused } = loaded.value
  if (refused) return <Refusal error={refused} again={reload} />
  if (!columns) return <Busy />
  const set = (name: string, next: ColumnChange | undefined) => {
    const others = [...wanted.value].filter(([other]) => other !== name)
    wanted.value = new Map(next === undefined ? others : [...others, [name, next]])
  }
  const isChanged = wanted.value.size > 0
  const apply = async (event: SubmitEvent) => {
    event.preventDefault()
    error.value = undefined
    isSending.value = true
    try {
      await run({ query: `CREATE OR REPLACE TABLE files.${quoted(file)} (${selectOf(file, columns, wanted.value)})` })
      wanted.value = new Map()
      done()
      if (isShown()) changeQuery({ tab: 'rows' })
    } catch (failed) {
      error.value = asApiError(failed)
    } finally {
      isSending.value = false
    }
  }
  return (
    <form onSubmit={(event) => void apply(event)}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Types">
        <table class="list types">
          <thead>
            <tr>
              <th scope="col">Column</th>
              <th scope="col">Is</th>
              <th scope="col">Shall be</th>
              <th scope="col">Its texts are written as</th>
            </tr>
          </thead>
          <tbody>
            {columns.map(({ Field, Type }) => {
              const chosen = wanted.value.get(Field)
              return (
                <tr key={Field}>
                  <th scope="row">{Field}</th>
                  <td>{Type}</td>
                  <td>
                    <select
                      aria-label={`Type of ${Field}`}
                      value={chosen?.type ?? ''}
                      onChange={({ currentTarget: { value } }) =>
                        set(Field, value === '' ? undefined : { type: value, format: chosen?.format ?? '' })
                      }
                    >
                      <option value="">as it is</option>
                      {offered.map((type) => (
                        <option key={type}>{type}</option>
                      ))}
                    </select>
                  </td>
                  <td>
                    {chosen && isTime(chosen.type) && isText(Type) && (
                      <input
                        aria-label={`How texts of ${Field} are written`}
                        placeholder="%d.%m.%Y"
                        value={chosen.format}
                        onInput={({ currentTarget: { value } }) => set(Field, { ...chosen, format: value })}
                      />
                    )}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      {error.value && <Refusal error={error.value} />}
      <div class="tools">
        <button type="submit" class="primary" disabled={!isChanged || isSending.value}>
          Give it these types
        </button>
        <span class="quiet">The file gets a new content. What it was stays readable as of now.</span>
      </div>
      {isChanged && <Outcome file={file} columns={columns} wanted={wanted.value} />}
    </form>
  )
}
