import { exactTable } from '../../api/exact.js'
import { quoted, run, select, type Column, type Value } from '../../api/sql.js'
import { useIsShown, useLoaded, useSending } from '../../basics/loading.js'
import { changeQuery, jsonIn, place } from '../../basics/place.js'
import { Busy, Refusal } from '../../components/notice.js'
import { Rows } from '../../lists/rows.js'
import { countText } from '../../components/value.js'
import { isText, isTime, lossesOf, selectOf, type Changes, type ColumnChange } from './type-changes.js'

const offered = ['BIGINT', 'DOUBLE', 'DECIMAL(18,4)', 'VARCHAR', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'TIME'] as const
const previewedMax = 20

/** The chosen types in the address. Whatever else stands there is not one of them: it would become a part of a statement. */
const readChanges = (text: string | null): Changes => {
  const found = Object.entries(jsonIn(text) ?? {}) as [string, unknown][]
  return new Map(
    found.flatMap(([name, one]): [string, ColumnChange][] => {
      const { type, format = '' } = (one ?? {}) as { type?: unknown; format?: unknown }
      const known = offered.find((each) => each === type)
      return known === undefined ? [] : [[name, { type: known, format: String(format) }]]
    }),
  )
}

/** What a change of a column's type would lose, with an example. */
type Loss = { name: string; gone: number; changed: number; before: string | null; after: string | null } & Record<string, Value>

const Outcome = ({ file, columns, wanted }: { file: string; columns: readonly Column[]; wanted: Changes }) => {
  const query = selectOf(file, columns, wanted)
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const [{ columns: shown, rows }, losses] = await Promise.all([
        exactTable({ query: `${query} LIMIT ${previewedMax}`, signal }),
        select<Loss>({ query: lossesOf(file, columns, wanted), signal }),
      ])
      return { shown, rows, gone: losses.filter(({ gone }) => gone > 0), changed: losses.filter(({ changed }) => changed > 0) }
    },
    [query],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  return (
    <>
      {value.gone.length > 0 && (
        <p class="notice" role="status">
          These values cannot be converted, and would become NULL:{' '}
          {value.gone.map(({ name, gone }) => `${countText(gone)} of ${name}`).join(', ')}.
        </p>
      )}
      {value.changed.length > 0 && (
        <p class="notice" role="status">
          These values would be rounded, or lose a part:{' '}
          {value.changed
            .map(({ name, changed, before, after }) => `${countText(changed)} of ${name} (${before ?? ''} becomes ${after ?? ''})`)
            .join(', ')}
          .
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

/**
 * Shows and changes the types of a file's columns, which the address has until they are given. A change gives the file new content; time
 * travel still reads the old content.
 */
export const Types = ({ file, done }: { file: string; done: () => void }) => {
  const { loaded, reload } = useLoaded(
    async (signal) => (await exactTable({ query: `SELECT * FROM files.${quoted(file)} LIMIT 0`, signal })).columns,
    [file],
  )
  const asked = readChanges(place.value.query.get('types'))
  const { send, isSending, error } = useSending()
  const isShown = useIsShown()
  const { value: columns, error: refused } = loaded.value
  if (refused) return <Refusal error={refused} again={reload} />
  if (!columns) return <Busy />
  const wanted: Changes = new Map([...asked].filter(([name]) => columns.some((column) => column.name === name)))
  const set = (name: string, next: ColumnChange | undefined) => {
    const others = [...wanted].filter(([other]) => other !== name)
    const all = next === undefined ? others : [...others, [name, next] as const]
    changeQuery({ types: all.length === 0 ? undefined : JSON.stringify(Object.fromEntries(all)) })
  }
  const isChanged = wanted.size > 0
  const apply = (event: SubmitEvent) => {
    event.preventDefault()
    void send(async () => {
      await run({ query: `CREATE OR REPLACE TABLE files.${quoted(file)} (${selectOf(file, columns, wanted)})` })
      done()
      if (isShown()) changeQuery({ tab: 'rows', types: undefined })
    })
  }
  return (
    <form onSubmit={apply}>
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
            {columns.map(({ name, type }) => {
              const chosen = wanted.get(name)
              return (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>{type}</td>
                  <td>
                    <select
                      aria-label={`Type of ${name}`}
                      value={chosen?.type ?? ''}
                      onChange={({ currentTarget: { value } }) =>
                        set(name, value === '' ? undefined : { type: value, format: chosen?.format ?? '' })
                      }
                    >
                      <option value="">as it is</option>
                      {offered.map((one) => (
                        <option key={one}>{one}</option>
                      ))}
                    </select>
                  </td>
                  <td>
                    {chosen && isTime(chosen.type) && isText(type) && (
                      <input
                        aria-label={`How texts of ${name} are written`}
                        placeholder="%d.%m.%Y"
                        value={chosen.format}
                        onInput={({ currentTarget: { value } }) => set(name, { ...chosen, format: value })}
                      />
                    )}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      {error && <Refusal error={error} />}
      <div class="tools">
        <button type="submit" class="primary" disabled={!isChanged || isSending}>
          Give it these types
        </button>
        <span class="quiet">The file gets a new content. What it was stays readable as of now.</span>
      </div>
      {isChanged && <Outcome file={file} columns={columns} wanted={wanted} />}
    </form>
  )
}
