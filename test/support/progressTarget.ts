import { EventEmitter } from 'node:events'

/** A stream that keeps what is written, and a clock that is set by hand. */
export function createTarget(columns?: number) {
  const written: string[] = []
  const clock = { ms: 0 }
  const stream = Object.assign(new EventEmitter(), {
    isTTY: columns !== undefined,
    columns,
    write: (text: string) => written.push(text) > 0,
  })
  return {
    written,
    clock,
    /** As a terminal does whose window is dragged. */
    resize: (width: number) => {
      stream.columns = width
      stream.emit('resize')
    },
    listeners: () => stream.listenerCount('resize'),
    target: { stream: stream as unknown as NodeJS.WriteStream, nowMs: () => clock.ms },
  }
}
