import { connect, type Socket } from 'node:net'

/** An answer as it came: header names in lower case, without the date. */
export interface RawAnswer {
  status: number
  headers: { [name: string]: string }
  body: string
}

/** A connection on which a test writes bytes of its own. */
export interface RawConnection {
  readonly socket: Socket
  /** The next answer, those of status 100 left out; undefined once the server has ended the connection. */
  next(): Promise<RawAnswer | undefined>
}

/** A connection to the address of a URL; it is destroyed when the test ends. */
export async function openRaw(t: { after(callback: () => void): void }, url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url)
  const socket = await new Promise<Socket>((resolve, reject) => {
    const made = connect({ host: hostname, port: Number(port), noDelay: true }, () => resolve(made))
    made.once('error', reject)
  })
  t.after(() => void socket.destroy())
  let received = ''
  let hasEnded = false
  let wake = () => {}
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    wake()
  })
  for (const event of ['end', 'error', 'close']) {
    socket.on(event, () => {
      hasEnded = true
      wake()
    })
  }
  const next: RawConnection['next'] = async () => {
    for (;;) {
      const read = readAnswer(received)
      if (read !== undefined) {
        received = received.slice(read.length)
        if (read.answer.status !== 100) return read.answer
      } else if (hasEnded) return undefined
      else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  }
  return { socket, next }
}

/** The first answer of a text, and how long it is; undefined when it is not whole. */
function readAnswer(text: string): { answer: RawAnswer; length: number } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [statusLine, ...lines] = text.slice(0, end).split('\r\n')
  const fields = lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string])
  const headers = Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]))
  delete headers.date
  const length = end + 4 + Number(headers['content-length'] ?? 0)
  if (text.length < length) return undefined
  const body = Buffer.from(text.slice(end + 4, length), 'latin1').toString()
  return { answer: { status: Number(statusLine.split(' ')[1]), headers, body }, length }
}
