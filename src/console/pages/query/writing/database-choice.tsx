import { useMemo } from 'preact/hooks'
import { searchOf, useOptions, type SearchOptions } from '../../../lists/choices.js'
import { SearchChoice } from '../../../lists/search-choice.js'

/** The search in the databases that a statement can run in, in the order of SHOW DATABASES. */
const databaseSearch = (at: string | undefined): SearchOptions =>
  searchOf({
    query: `SELECT NAME AS value, NAME AS name, CASE TYPE WHEN 'system' THEN 0 WHEN 'project' THEN 1 ELSE 2 END AS kind
      FROM information_schema.databases`,
    order: "kind, name <> 'files', name",
    at,
  })

type Props = { value: string; at: string | undefined; choose: (name: string) => void }

/** A field for the database of a statement. */
export const DatabaseChoice = ({ value, at, choose }: Props) => {
  const search = useMemo(() => databaseSearch(at), [at])
  const { loaded } = useOptions(search, [at])
  return <SearchChoice label="in" labelIs="beside" value={value} choose={choose} found={loaded.value.value} search={search} />
}
