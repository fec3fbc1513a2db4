/** Content of a progress line. Figures are in order of importance. */
interface LineParts {
  /** Done of the whole, 0 to 1; undefined when the whole is not known. */
  readonly fraction?: number
  /** Subject, for example a file name. */
  readonly label: string
  /** Follows the label if there is room. */
  readonly place?: string
  readonly figures: readonly string[]
  /** Estimated seconds to the end. */
  readonly secondsLeft?: number
}

const BAR_CELLS = 20
const SHORT_LABEL = 12 // columns that a label keeps before figures are dropped for it

/** One line of at most `columns` columns. What does not fit is dropped or shortened: first the bar, then the place, the
 *  label down to 12 columns, then figures from the last. A line of unlimited width has no bar. */
export function formatProgressLine(parts: LineParts, columns: number): string {
  const label = toPrintable(parts.label)
  const { place, figures } = parts
  const full = { bar: Number.isFinite(columns), place, label, figures }
  const variants: Variant[] = [full, { ...full, bar: false }, { ...full, bar: false, place: undefined }]
  for (let count = figures.length; count >= 0; count--) {
    variants.push({ bar: false, label, figures: figures.slice(0, count), shortest: SHORT_LABEL })
  }
  for (const variant of variants) {
    const line = fit(parts, variant, columns)
    if (line !== undefined) return line
  }
  return cut(compose(parts, { bar: false, label: shorten(label, SHORT_LABEL), figures: [] }), columns)
}

interface Variant {
  bar: boolean
  place?: string
  label: string
  figures: readonly string[]
  /** Columns to which the label may be shortened. */
  shortest?: number
}

/** The line with as much of the label as fits; undefined if it does not fit. */
function fit(parts: LineParts, variant: Variant, columns: number): string | undefined {
  const line = compose(parts, variant)
  const surplus = widthOf(line) - columns
  if (surplus <= 0) return line
  const width = widthOf(variant.label) - surplus
  if (variant.shortest === undefined || width < variant.shortest) return undefined
  return compose(parts, { ...variant, label: shorten(variant.label, width) })
}

function compose({ fraction, secondsLeft }: LineParts, { bar, place, label, figures }: Variant): string {
  const done = fraction === undefined ? undefined : Math.min(1, Math.max(0, fraction))
  const filled = Math.round((done ?? 0) * BAR_CELLS)
  const before = [
    bar && done !== undefined ? `[${'#'.repeat(filled)}${'.'.repeat(BAR_CELLS - filled)}]` : '',
    done === undefined ? '' : `${Math.floor(done * 100)} %`,
  ]
  const left = secondsLeft === undefined ? [] : [`${formatDuration(secondsLeft)} left`]
  const name = place === undefined ? label : `${label} (${place})`
  return [...before.filter((text) => text !== ''), [name, ...figures, ...left].join(', ')].join(' ')
}

/** Beginning and end of a text, at most `width` columns. */
function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  const head = cut(text, Math.ceil((width - 2) / 2))
  const tail = [...cut([...text].reverse().join(''), width - 2 - widthOf(head))].reverse().join('')
  return `${head}..${tail}`
}

function cut(text: string, width: number): string {
  let out = ''
  let used = 0
  for (const character of text) {
    used += widthOf(character)
    if (used > width) break
    out += character
  }
  return out
}

/** Columns of a text in a terminal; characters that may be wide count as wide. */
function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += character.codePointAt(0)! >= 0x1100 ? 2 : 1
  return width
}

/** Removes control characters, which file names may contain. */
function toPrintable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')
}

/** `45 s`, `12 min`, `2 h 34 min`, `3 d 4 h`: rounded up, so that running work never has 0 s left. */
export function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  const hours = Math.ceil(seconds / 3600)
  return `${Math.floor(hours / 24).toLocaleString('en')} d ${hours % 24} h`
}

/** `1,234 blocks/s`; below 10 with one decimal. */
export function formatRate(perSecond: number, unit: string): string {
  const digits = perSecond < 9.95 ? 1 : 0
  const shown = perSecond.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return `${shown} ${unit}/s`
}

/** As `formatDuration`, for elapsed time: below 10 s with one decimal. */
export function formatElapsed(seconds: number): string {
  return seconds < 9.95 ? `${seconds.toFixed(1)} s` : formatDuration(seconds)
}
