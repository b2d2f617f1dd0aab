export type Share = { name: string; value: number; text: string }

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
          <span class="clipped">{name}</span>
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
