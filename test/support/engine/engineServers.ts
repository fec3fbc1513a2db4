import { startCairn } from '../cairn.js'
import { freePort } from '../freePort.js'
import { temporaryDirectory } from '../temporary.js'
import { type GethProgram, serveWithGeth, startFullGeth } from '../upstream/geth.js'
import { writeSecret } from './engineClient.js'

type After = { after(callback: () => void | Promise<void>): void }

/** A node with an Engine API. */
export interface EngineNode {
  /** Of the Engine API. */
  readonly engineUrl: string
  /** Of its JSON-RPC. */
  readonly url: string
}

/** Starts geth, or a fork of it, on a genesis, with further arguments. It ends with the test. */
export async function startGethEngine(
  t: After,
  genesis: string,
  { program, args: more = [] }: { program?: GethProgram; args?: readonly string[] } = {},
): Promise<EngineNode> {
  const port = await freePort()
  const args = ['--syncmode=full', `--authrpc.port=${port}`, `--authrpc.jwtsecret=${writeSecret(t)}`, ...more]
  const url = await serveWithGeth(t, { datadir: temporaryDirectory(t), genesis, args, program })
  return { engineUrl: `http://127.0.0.1:${port}`, url }
}

/** Starts geth as a full node on a genesis: it keeps the states of its 128 newest blocks. It ends with the test. */
export async function startFullGethEngine(t: After, genesis: string): Promise<EngineNode> {
  const port = await freePort()
  const args = [`--authrpc.port=${port}`, `--authrpc.jwtsecret=${writeSecret(t)}`]
  const { url } = await startFullGeth(t, { genesis, args })
  return { engineUrl: `http://127.0.0.1:${port}`, url }
}

/** Starts Cairn on a genesis, or on a database that has one. It ends with the test. */
export async function startCairnEngine(
  t: After,
  { genesis, datadir = temporaryDirectory(t), args = [] }: { genesis?: string; datadir?: string; args?: string[] },
): Promise<EngineNode & Awaited<ReturnType<typeof startCairn>> & { readonly datadir: string }> {
  const port = await freePort()
  const chain = genesis === undefined ? [] : ['--genesis', genesis]
  const engine = ['--engine', String(port), '--jwt-secret', writeSecret(t)]
  const server = await startCairn(t, ['--open', '--datadir', datadir, ...chain, ...engine, ...args])
  return { ...server, engineUrl: `http://127.0.0.1:${port}`, datadir }
}
