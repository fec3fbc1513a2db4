import { createProgressDisplay, type DisplayTarget, monotonicMs } from './progressDisplay.js'
import { formatElapsed, formatProgressLine, formatRate } from './progressLine.js'
import { createRateMeter, estimateLeft } from './rateMeter.js'

/** Shows the progress of long work: a line redrawn in place on a terminal, plain lines with the time elsewhere. */
export interface Progress {
  /** Reports `done` of the total; `note` follows the figures. */
  update(done: number, note?: string): void
  /** Writes the last state permanently. */
  finish(note?: string): void
}

interface ProgressOptions extends DisplayTarget {
  label: string
  unit: string
  /** Undefined if the total is unknown. */
  total?: number
}

/** Creates a progress display, on standard error by default. */
export function createProgress({ label, unit, total, ...target }: ProgressOptions): Progress {
  const { nowMs = monotonicMs } = target
  const display = createProgressDisplay(target)
  const meter = createRateMeter(1, nowMs)
  const startedMs = nowMs()
  let done = 0
  let note = ''
  const whole = total === undefined ? '' : ` of ${total.toLocaleString('en')}`
  const counted = () => `${done.toLocaleString('en')}${whole} ${unit}`
  const render = (columns: number) => {
    const [rate] = meter.perSecond()
    const figures = [counted(), formatRate(rate, unit), note].filter((text) => text !== '')
    const fraction = total === undefined ? undefined : done / Math.max(total, 1)
    const secondsLeft = total === undefined ? undefined : estimateLeft(total - done, rate, meter)
    return formatProgressLine({ label, figures, fraction, secondsLeft }, columns)
  }
  const renderEnd = (columns: number) => {
    const seconds = (nowMs() - startedMs) / 1000
    const figures = [`${counted()} in ${formatElapsed(seconds)}`, formatRate(seconds > 0 ? done / seconds : 0, unit)]
    return formatProgressLine({ label, figures: note === '' ? figures : [...figures, note] }, columns)
  }
  return {
    update: (count, words = '') => {
      done = count
      note = words
      meter.add([count])
      display.show(render)
    },
    finish: (words = '') => {
      note = words
      display.end(renderEnd)
    },
  }
}

/** A progress that shows nothing. */
export const noProgress = { update() {}, finish() {} } satisfies Progress
