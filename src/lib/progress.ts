/** Shows how far long work has come: a bar redrawn in place on a terminal, a plain line every few seconds elsewhere. */
export interface Progress {
  /** Says that `done` of the total are done; `note` follows the figures. */
  update(done: number, note?: string): void
  /** Writes the last state and ends the line. */
  finish(note?: string): void
}

interface ProgressOptions {
  label: string
  unit: string
  /** Undefined when the total is not known. */
  total?: number
  stream?: NodeJS.WriteStream
}

/** Progress on `stream` (standard error unless told); the rate is per second since the start. */
export function createProgress({ label, unit, total, stream = process.stderr }: ProgressOptions): Progress {
  const started = performance.now()
  const everyMs = stream.isTTY ? 100 : 3000
  let lastMs = started
  let last = { done: 0, note: '' }
  const line = () => {
    const seconds = Math.max((performance.now() - started) / 1000, 0.001)
    const rate = last.done / seconds
    const parts = [
      `${label} ${last.done.toLocaleString('en')}${total === undefined ? '' : `/${total.toLocaleString('en')}`} ${unit}`,
    ]
    parts.push(`${Math.round(rate).toLocaleString('en')} ${unit}/s`)
    if (total !== undefined && rate > 0 && last.done < total)
      parts.push(`${Math.ceil((total - last.done) / rate)} s left`)
    if (last.note) parts.push(last.note)
    const bar = total === undefined || !stream.isTTY ? '' : `${renderBar(last.done / Math.max(total, 1))} `
    return bar + parts.join(', ')
  }
  return {
    update(done, note = '') {
      last = { done, note }
      const now = performance.now()
      if (now - lastMs < everyMs) return
      lastMs = now
      stream.write(stream.isTTY ? `\r\x1b[K${line()}` : `${line()}\n`)
    },
    finish(note = '') {
      last = { done: last.done, note }
      stream.write(stream.isTTY ? `\r\x1b[K${line()}\n` : `${line()}\n`)
    },
  }
}

/** A progress that shows nothing. */
export const noProgress: Progress = { update() {}, finish() {} }

function renderBar(fraction: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, fraction)) * 20)
  return `[${'#'.repeat(filled)}${'.'.repeat(20 - filled)}]`
}
