import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { formatData } from '../../src/lib/hex.js'
import { spawnProgram } from '../../test/support/cairn.js'
import { freePort } from '../../test/support/freePort.js'
import { assemble, deployer } from '../../tools/fixture/assembler.js'

/** A server with a chain that grows by a block of logs on demand. */
export interface GrowingServer {
  readonly name: string
  readonly socketUrl: string
  readonly pid: number
  /** Makes the next block. @returns when it was committed, where that is known, as `process.hrtime` */
  grow(): Promise<bigint | undefined>
  stop(): Promise<void>
}

const POLL_MS = 20

/** `geth --dev`, which makes a block of each transaction: one that logs the topics 1 to `logs`. */
export async function startGeth(path: string, logs: number): Promise<GrowingServer> {
  const datadir = mkdtempSync(join(tmpdir(), 'cairn-bench-geth-'))
  const [http, ws] = [await freePort(), await freePort()]
  const flags = ['--dev', '--datadir', datadir, '--ipcdisable', '--verbosity', '1', '--nodiscover']
  const ports = ['--http', '--http.port', String(http), '--ws', '--ws.port', String(ws), '--authrpc.port', '0']
  const { child, ended } = spawnProgram(path, [...flags, ...ports])
  const call = async (method: string, ...params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const answer = await fetch(`http://127.0.0.1:${http}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    })
    const { result, error } = (await answer.json()) as { result: unknown; error?: { message: string } }
    if (error !== undefined) throw new Error(`geth: ${method}: ${error.message}`)
    return result
  }
  /** Asks until there is an answer: geth refuses some calls while it starts. */
  const until = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    for (;;) {
      const found = await call(method, ...params).catch(() => null)
      if (found !== null) return found as T
      await delay(POLL_MS)
    }
  }
  const [from] = await until<string[]>('eth_accounts')
  // Logs the topics from `logs` down to 1, each with 32 bytes.
  const code = assemble(`${logs} :loop dup1 32 0 log1 1 swap1 sub dup1 @loop jumpi stop`)
  const hash = await call('eth_sendTransaction', { from, data: formatData(deployer(code)), gas: '0x100000' })
  const { contractAddress } = await until<{ contractAddress: string }>('eth_getTransactionReceipt', hash)
  return {
    name: ((await call('web3_clientVersion')) as string).split('-')[0],
    socketUrl: `ws://127.0.0.1:${ws}`,
    pid: child.pid!,
    async grow() {
      await call('eth_sendTransaction', { from, to: contractAddress, gas: '0x300000' })
      return undefined
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
      rmSync(datadir, { recursive: true })
    },
  }
}
