/** Measures the message that a WebSocket peer is sending, from the bytes on the wire: `ws` reports a message only when
 *  it is complete. */
export interface FrameMeter {
  /** Receives the next bytes. */
  feed(chunk: Uint8Array): void
  /** Approximate memory of the incomplete message; 0 without one. */
  unfinishedBytes(): number
  /** Messages completed so far. */
  finished(): number
}

/** Overhead of `ws` and V8 for a piece of a message. */
const PIECE_BYTES = 256

const FIN = 0x80
const MASKED = 0x80
/** Opcodes from here on are control frames, which may come between the frames of a message (RFC 6455, section 5.4). */
const FIRST_CONTROL = 0x8

/** A meter of frames as RFC 6455, section 5.2, defines them. `ws` detects malformed frames: it ends the connection. */
export function createFrameMeter(): FrameMeter {
  const header = new Uint8Array(14)
  const view = new DataView(header.buffer)
  let headerSize = 0
  let payloadLeft = 0
  let frameBytes = 0
  let messageBytes = 0
  let finished = 0

  const endFrame = () => {
    headerSize = 0
    if ((header[0] & 0x0f) < FIRST_CONTROL) {
      if ((header[0] & FIN) === 0) messageBytes += frameBytes + PIECE_BYTES
      else {
        messageBytes = 0
        finished++
      }
    }
    frameBytes = 0
  }
  return {
    feed(chunk) {
      for (let at = 0; at < chunk.length; ) {
        if (payloadLeft > 0) {
          const taken = Math.min(payloadLeft, chunk.length - at)
          at += taken
          frameBytes += taken
          payloadLeft -= taken
        } else {
          header[headerSize++] = chunk[at++]
          frameBytes++
          if (headerSize < 2 || headerSize < headerLength(header)) continue
          payloadLeft = payloadLength(view)
        }
        if (payloadLeft === 0) endFrame()
      }
      if (frameBytes > 0) frameBytes += PIECE_BYTES
    },
    unfinishedBytes: () => messageBytes + frameBytes,
    finished: () => finished,
  }
}

function headerLength(header: Uint8Array): number {
  const short = header[1] & 0x7f
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0
  return 2 + extended + (header[1] & MASKED ? 4 : 0)
}

function payloadLength(view: DataView): number {
  const short = view.getUint8(1) & 0x7f
  if (short < 126) return short
  return short === 126 ? view.getUint16(2) : Number(view.getBigUint64(2))
}
