import { useFirst } from './parts.js'
import { ShowMore } from './show-more.js'

export type Share = { name: string; value: number; text: string }

/** The number of last characters of a long name that stay visible. */
const wholeChars = 16
const endChars = 10

/** A name that is shortened in its middle if there is no room. The tooltip and screen readers have the whole name. */
const Name = ({ name }: { name: string }) =>
  name.length <= wholeChars ? (
    <span class="clipped">{name}</span>
  ) : (
    <span title={name}>
      <span class="hidden">{name}</span>
      <span class="name-cut" aria-hidden="true">
        <span>{name.slice(0, -endChars)}</span>
        <span>{name.slice(-endChars)}</span>
      </span>
    </span>
  )

const barsAtOnce = 40

type Props = { label: string; shares: readonly Share[]; first?: number; whole?: number }

/**
 * Named numbers as bars, from the left, or to both sides of the middle if some are below 0. Screen readers read names and numbers.
 *
 * @param first the number of bars that are shown at once
 * @param whole the value of a full bar; by default the greatest of the values
 * @example <Shares label="Importances" shares={[{ name: 'size', value: 0.7, text: '70 %' }]} />
 */
export const Shares = ({ label, shares, first = barsAtOnce, whole }: Props) => {
  const { here, more } = useFirst(shares, first)
  const most = whole ?? Math.max(...shares.map(({ value }) => Math.abs(value)), Number.MIN_VALUE)
  const isTwoSided = shares.some(({ value }) => value < 0)
  return (
    <>
      <ul class={isTwoSided ? 'shares two-sided' : 'shares'} aria-label={label}>
        {here.map(({ name, value, text }) => (
          <li key={name}>
            <Name name={name} />
            <span class="bar" aria-hidden="true">
              <span
                class={value < 0 ? 'below' : 'above'}
                style={{ width: `${((Math.abs(value) / most) * (isTwoSided ? 50 : 100)).toFixed(2)}%` }}
              />
            </span>
            <span class="right">{text}</span>
          </li>
        ))}
      </ul>
      <ShowMore here={here.length} {...more} />
    </>
  )
}
