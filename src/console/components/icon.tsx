const shapes = {
  home: 'M3 11 12 3l9 8M5 9.5V20h5v-6h4v6h5V9.5',
  query: 'M4 6l5 6-5 6M12 18h8',
  resources: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z',
  models: 'M4 20V4M4 20h16M8 16l4-5 3 3 5-7',
  agents: 'M4 5h16v11H9l-5 4zM8 9h8M8 12h5',
  events: 'M6 4v16M6 7h11M6 12h14M6 17h8',
  audit: 'M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6zM8.5 12l2.5 2.5 4.5-5',
  health: 'M3 12h4l3-7 4 14 3-7h4',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 3',
  light: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5 19 19M5 19l1.5-1.5M17.5 6.5 19 5',
  dark: 'M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10z',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  leave: 'M10 4H4v16h6M14 8l4 4-4 4M8 12h10',
  close: 'M6 6l12 12M18 6 6 18',
  plus: 'M12 5v14M5 12h14',
  run: 'M7 4l13 8-13 8z',
  stop: 'M6 6h12v12H6z',
  down: 'M12 4v12M6 11l6 6 6-6M5 20h14',
} as const

export type IconName = keyof typeof shapes

/** An icon beside a text; screen readers read only the text. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={shapes[name]} />
  </svg>
)
