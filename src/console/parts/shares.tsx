export type Share = { name: string; value: number; text: string }

/** The end of a longer name stays in sight. */
const wholeChars = 16
const endChars = 10

/** A name that is cut in its middle where it has no room; whoever points at it, and readers of a screen, have it whole. */
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

/**
 * Named numbers as bars from the left, or to both sides of the middle when some are below 0. Readers of a screen hear names and numbers.
 *
 * @param whole what a full bar stands for; the greatest of them, if it is not said
 * @example <Shares label="Importances" shares={[{ name: 'size', value: 0.7, text: '70 %' }]} />
 */
export const Shares = ({ label, shares, whole }: { label: string; shares: readonly Share[]; whole?: number }) => {
  const most = whole ?? Math.max(...shares.map(({ value }) => Math.abs(value)), Number.MIN_VALUE)
  const isTwoSided = shares.some(({ value }) => value < 0)
  return (
    <ul class={isTwoSided ? 'shares two-sided' : 'shares'} aria-label={label}>
      {shares.map(({ name, value, text }) => (
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
  )
}
