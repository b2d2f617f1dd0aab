import { guessed, parameterTypes, sentAs, type Given, type ParameterType } from './parameters.js'

type Props = { names: readonly string[]; given: Readonly<Record<string, Given>>; change: (given: Record<string, Given>) => void }

/** A field for each named parameter of the statement, and the type of its value. */
export const ParameterFields = ({ names, given, change }: Props) => (
  <div class="parameters" role="group" aria-label="Parameters">
    {names.map((name) => {
      const one = given[name] ?? { text: '' }
      const set = (next: Partial<Given>) => change({ ...given, [name]: { ...one, ...next } })
      const { note, problem } = sentAs(one)
      return (
        <div key={name} class="parameter">
          <label>
            :{name}
            <input
              value={one.text}
              placeholder={one.type === undefined ? 'NULL' : ''}
              disabled={one.type === 'NULL'}
              aria-invalid={problem !== undefined}
              onInput={({ currentTarget }) => set({ text: currentTarget.value })}
            />
          </label>
          <select
            aria-label={`Type of ${name}`}
            value={one.type ?? guessed(one.text)}
            onChange={({ currentTarget }) => set({ type: currentTarget.value as ParameterType })}
          >
            {parameterTypes.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
          {(problem ?? note) !== undefined && <small role="status">{problem ?? note}</small>}
        </div>
      )
    })}
  </div>
)
