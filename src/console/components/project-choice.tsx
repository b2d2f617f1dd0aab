type Props = { names: readonly string[]; value: string; choose: (name: string) => void }

/** A field for the project that gets a new resource. */
export const ProjectChoice = ({ names, value, choose }: Props) => (
  <label class="of-project">
    Project
    <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      {[...new Set([value, ...names])].map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  </label>
)
