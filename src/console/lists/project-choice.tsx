import { Refusal } from '../components/notice.js'
import { searchProjects, useOptions } from './choices.js'
import { SearchChoice } from './search-choice.js'

type Props = { value: string; choose: (name: string) => void }

/** A field for the project that gets a new resource. */
export const ProjectChoice = ({ value, choose }: Props) => {
  const { loaded, reload } = useOptions(searchProjects, [])
  const { value: found, error } = loaded.value
  return (
    <div class="of-project">
      <SearchChoice label="Project" value={value} choose={choose} found={found} search={searchProjects} />
      {error && <Refusal error={error} again={reload} />}
    </div>
  )
}
