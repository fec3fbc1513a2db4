import { createServer } from 'node:net'
import { type CairnServer, startDefaultCairn } from '../../test/support/cairn.js'

/** `cairn serve` of the chain in a process of its own, which can be killed and comes back at the same URL. */
export interface SoakUpstream {
  readonly url: string
  /** SIGKILL, unless it is down. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** An upstream that serves the database of `datadir`, started. */
export async function startSoakUpstream(datadir: string): Promise<SoakUpstream> {
  const port = await findFreePort()
  let server: CairnServer | undefined
  const start = async () => {
    server ??= await startDefaultCairn({ after() {} }, ['--datadir', datadir, '--open', '--port', String(port)])
  }
  await start()
  return {
    url: server!.socketUrl,
    start,
    kill: async () => {
      const { running } = server ?? {}
      server = undefined
      running?.child.kill('SIGKILL')
      await running?.ended
    },
  }
}

function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address() as { port: number }
      server.close(() => resolve(address.port))
    })
  })
}
