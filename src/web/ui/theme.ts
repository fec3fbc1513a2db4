import { createStore } from '../client/store.js'

export const THEMES = ['auto', 'light', 'dark'] as const
type Theme = (typeof THEMES)[number]

const STORED_THEME = 'cairn-theme'

/** The chosen theme; `auto` follows the system. */
export const theme = createStore<Theme>('auto')

/** Counts changes of the displayed theme, including those of the system, so that charts are redrawn. */
export const themeTurn = createStore(0)

/** Applies the stored theme and every later change. */
export function followTheme(): void {
  const apply = () => {
    const chosen = theme.get()
    if (chosen === 'auto') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = chosen
    themeTurn.set(themeTurn.get() + 1)
  }
  const stored = readStored()
  if (stored !== undefined) theme.set(stored)
  apply()
  theme.watch(() => {
    try {
      localStorage.setItem(STORED_THEME, theme.get())
    } catch {
      // Without storage the theme lasts until the page is reloaded.
    }
    apply()
  })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply)
}

function readStored(): Theme | undefined {
  try {
    return THEMES.find((each) => each === localStorage.getItem(STORED_THEME))
  } catch {
    return undefined
  }
}
