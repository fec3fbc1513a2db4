import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { runCairnOk, spawnProgram } from '../../test/support/cairn.js'
import { callEngine, type EngineAnswer, writeSecret } from '../../test/support/engine/engineClient.js'
import { startCairnEngine } from '../../test/support/engine/engineServers.js'
import { forkChoiceOf, payloadOf, type SentPayload } from '../../test/support/engine/payloads.js'
import { freePort } from '../../test/support/freePort.js'
import { temporaryDirectory } from '../../test/support/temporary.js'
import { quantile } from '../lib/client.js'
import { printTable } from '../lib/table.js'
import type { FullChain } from './fullChain.js'
import type { SyncRun } from './options.js'

/** How long an execution client takes for full blocks, in milliseconds. */
export interface EngineFigures {
  readonly server: string
  readonly blocks: number
  /** From sending `engine_newPayload` to its answer, VALID. */
  readonly payloadMs: { readonly p50: number; readonly p99: number }
  /** From sending the fork choice to its answer. */
  readonly forkChoiceMs: { readonly p50: number; readonly p99: number }
}

/** Prints the figures as a table. */
export function printEngine(figures: readonly EngineFigures[]): void {
  printTable(
    ['server', 'blocks', 'payload p50 ms', 'p99', 'fork choice p50 ms', 'p99'],
    figures.map(({ server, blocks, payloadMs, forkChoiceMs }) => [
      ...[server, blocks, payloadMs.p50, payloadMs.p99, forkChoiceMs.p50, forkChoiceMs.p99],
    ]),
  )
}

interface Server {
  readonly name: string
  readonly engineUrl: string
  stop(): Promise<unknown>
}

/** Sends the blocks of a branch, one by one as a consensus client does, to Cairn and with `--geth` to geth. The servers
 *  run one after the other. @throws Error for an answer that is not VALID */
export async function measureEngine(run: SyncRun, chain: FullChain): Promise<EngineFigures[]> {
  const payloads = chain.branches[1].map(({ block }) => payloadOf(block))
  const starts = [startCairnServer, ...(run.values.geth === undefined ? [] : [startGethServer])]
  const figures: EngineFigures[] = []
  for (const start of starts) {
    const server = await start(run, chain)
    figures.push(await measureServer(server, payloads))
    await server.stop()
  }
  return figures
}

async function measureServer({ name, engineUrl }: Server, payloads: readonly SentPayload[]): Promise<EngineFigures> {
  const [payloadMs, forkChoiceMs]: number[][] = [[], []]
  const zero = `0x${'00'.repeat(32)}`
  for (const payload of payloads) {
    const { method, params, hash } = payload
    const state = { headBlockHash: hash, safeBlockHash: zero, finalizedBlockHash: zero }
    const calls = [
      { method, params, times: payloadMs },
      { method: forkChoiceOf(payload), params: [state, null], times: forkChoiceMs },
    ]
    for (const { method, params, times } of calls) {
      const beganMs = performance.now()
      const answer = await callEngine(engineUrl, method, params)
      times.push(performance.now() - beganMs)
      requireValid(name, answer)
    }
  }
  const of = (times: readonly number[]) => ({ p50: quantile(times, 0.5), p99: quantile(times, 0.99) })
  return { server: name, blocks: payloads.length, payloadMs: of(payloadMs), forkChoiceMs: of(forkChoiceMs) }
}

function requireValid(name: string, answer: EngineAnswer): void {
  if (!JSON.stringify(answer).includes('"VALID"')) throw new Error(`${name}: ${JSON.stringify(answer)}`)
}

async function startCairnServer(run: SyncRun, { genesis, path }: FullChain): Promise<Server> {
  const datadir = temporaryDirectory(run)
  await runCairnOk(['import', '--datadir', datadir, '--genesis', genesis, path])
  const { engineUrl, stop } = await startCairnEngine(run, { datadir })
  return { name: 'Cairn', engineUrl, stop }
}

/** geth as it runs by default: path scheme, full. */
async function startGethServer(run: SyncRun, { genesis, path }: FullChain): Promise<Server> {
  const program = run.values.geth!
  const datadir = ['--datadir', temporaryDirectory(run)]
  for (const step of [
    ['init', genesis],
    ['import', path],
  ]) {
    const { status, stderr } = spawnSync(program, [...datadir, ...step], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`geth ${step[0]}: ${stderr}`)
  }
  const port = await freePort()
  const auth = [`--authrpc.port=${port}`, `--authrpc.jwtsecret=${writeSecret(run)}`]
  const alone = ['--nodiscover', '--maxpeers=0', '--port=0', '--ipcdisable', '--syncmode=full']
  const { child, ended } = spawnProgram(program, [...datadir, ...alone, ...auth])
  run.after(() => void child.kill('SIGKILL'))
  const engineUrl = `http://127.0.0.1:${port}`
  while (!(await callEngine(engineUrl, 'engine_exchangeCapabilities', [[]]).catch(() => undefined))) await delay(50)
  const version = await callEngine(engineUrl, 'web3_clientVersion', []).catch(() => ({ result: undefined }))
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { name: String(version.result ?? 'geth').split('-')[0], engineUrl, stop }
}
