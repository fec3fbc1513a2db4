import { spawnSync } from 'node:child_process'
import { formatQuantity } from '../../../src/lib/hex.js'
import { spawnProgram } from '../cairn.js'
import { freePort } from '../freePort.js'
import { ask, resultOf } from '../rpcClient.js'
import { temporaryDirectory } from '../temporary.js'
import type { Peer } from './followPeer.js'

/** The oldest minor version of geth 1 whose answers ours are compared with: struct logs have another form before. */
const OLDEST_MINOR = 17

const [, MINOR] =
  /^Version: 1\.(\d+)\./m.exec(spawnSync('geth', ['version'], { encoding: 'utf8' }).stdout ?? '')?.map(Number) ?? []

/** Why tests beside geth are skipped; false when it is on the PATH. */
export const SKIP_GETH: false | string =
  MINOR === undefined
    ? 'no geth on the PATH'
    : MINOR < OLDEST_MINOR && `geth 1.${MINOR} is on the PATH, 1.${OLDEST_MINOR} or later is needed`

/** Why tests beside op-geth are skipped; false when it is on the PATH by that name. */
export const SKIP_OP_GETH: false | string =
  spawnSync('op-geth', ['version'], { encoding: 'utf8' }).status !== 0 && 'no op-geth on the PATH'

/** Why tests beside geth of Gnosis (github.com/gnosischain/go-ethereum) are skipped; false when it is on the PATH by
 *  that name. */
export const SKIP_GNOSIS_GETH: false | string =
  spawnSync('gnosis-geth', ['version'], { encoding: 'utf8' }).status !== 0 && 'no gnosis-geth on the PATH'

/** geth and its forks, as they are named on the PATH. */
export type GethProgram = 'geth' | 'op-geth' | 'gnosis-geth'

/** Serves a chain file, or only the genesis, with geth or a fork of it, which gets the further arguments. Returns the
 *  URL. The node ends with the test. */
export async function serveWithGeth(
  t: { after(callback: () => void | Promise<void>): void },
  {
    datadir,
    genesis,
    chain,
    args = [],
    program = 'geth',
  }: { datadir: string; genesis: string; chain?: string; args?: readonly string[]; program?: GethProgram },
): Promise<string> {
  const fixed = ['--datadir', datadir, '--state.scheme=hash', '--cache.preimages']
  for (const step of [['init', genesis], ...(chain === undefined ? [] : [['--gcmode=archive', 'import', chain]])]) {
    const { status, stderr } = spawnSync(program, [...fixed, ...step], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`${program} ${step.join(' ')}: ${stderr}`)
  }
  const serving = ['--gcmode=archive', '--nodiscover', '--maxpeers=0', '--port=0', '--ipcdisable', '--authrpc.port=0']
  const { child, ended, waitFor } = spawnProgram(program, [
    ...fixed,
    ...serving,
    '--http',
    '--http.port=0',
    '--http.api=debug,eth',
    ...args,
  ])
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const [, address] = await waitFor('stderr', /HTTP server started\s+endpoint=(127\.0\.0\.1:\d+) auth=false/)
  return `http://${address}`
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

/** `geth --dev`, which mines each transaction at once, or with a period all that came in it. */
export async function startGethPeer(
  t: { after(callback: () => void | Promise<void>): void },
  args: readonly string[] = [],
): Promise<Peer> {
  const http = ['--http', '--http.port', '0', '--http.api', 'eth,debug,net,web3']
  const ws = ['--ws', '--ws.port', '0', '--ws.api', 'eth,debug']
  const rest = [
    '--nodiscover',
    '--port',
    '0',
    '--authrpc.port',
    '0',
    '--ipcdisable',
    '--gcmode=archive',
    '--state.scheme=hash',
  ]
  const running = spawnProgram('geth', ['--dev', '--datadir', temporaryDirectory(t), ...http, ...ws, ...rest, ...args])
  t.after(async () => {
    running.child.kill('SIGINT')
    await running.ended
  })
  const [, address] = await running.waitFor('stderr', /HTTP server started\s+endpoint=(127\.0\.0\.1:\d+) auth=false/)
  const [, wsUrl] = await running.waitFor('stderr', /WebSocket enabled\s+url=(ws:\/\/127\.0\.0\.1:\d+)/)
  const url = `http://${address}`
  const [from] = await resultOf<string[]>(url, 'eth_accounts')
  const mineOne = async (transaction: object): Promise<string> => {
    const hash = await resultOf<string>(url, 'eth_sendTransaction', [{ from, ...transaction }])
    // Null until it is mined; an error while geth indexes.
    while (!(await ask(url, 'eth_getTransactionReceipt', [hash])).result) await pause()
    return hash
  }
  return {
    url,
    wsUrl,
    mine: async (transactions) => {
      const hashes: string[] = []
      for (const each of transactions) hashes.push(await mineOne(each))
      return hashes
    },
    reorg: async (depth) => {
      const head = Number(await resultOf<string>(url, 'eth_blockNumber'))
      await resultOf(url, 'debug_setHead', [formatQuantity(head - depth)])
    },
    faults: /^$/,
  }
}

/** A geth that keeps the states of its 128 newest blocks only. */
export interface FullGeth {
  readonly url: string
  /** Of the process, until it is restarted. */
  pid(): number
  /** Imports blocks of a file of RLP lists: the last one becomes the head, with a reorg if need be. */
  import(file: string): Promise<void>
  /** Stops it as an operator does, and starts it again at the same address. */
  restart(): Promise<void>
}

/** Starts geth as a full node, with the path scheme, on a genesis without further blocks. It ends with the test. */
export async function startFullGeth(
  t: { after(callback: () => void | Promise<void>): void },
  { genesis, args = [] }: { genesis: string; args?: readonly string[] },
): Promise<FullGeth> {
  const datadir = temporaryDirectory(t)
  const port = await freePort()
  const fixed = ['--datadir', datadir, '--state.scheme=path']
  const { status, stderr } = spawnSync('geth', [...fixed, 'init', genesis], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`geth init: ${stderr}`)
  const alone = ['--nodiscover', '--maxpeers=0', '--port=0', '--ipcdisable', '--authrpc.port=0', '--history.state=1']
  const http = ['--http', `--http.port=${port}`, '--http.api=admin,debug,eth']
  const start = async () => {
    const running = spawnProgram('geth', [...fixed, '--gcmode=full', '--syncmode=full', ...alone, ...http, ...args])
    await running.waitFor('stderr', /HTTP server started\s+endpoint=127\.0\.0\.1:\d+ auth=false/)
    return running
  }
  let running = await start()
  const stop = async (signal: NodeJS.Signals) => {
    running.child.kill(signal)
    await running.ended
  }
  t.after(() => stop('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    pid: () => running.child.pid!,
    import: async (file) => {
      if (!(await resultOf<boolean>(url, 'admin_importChain', [file]))) throw new Error(`geth refused ${file}`)
    },
    restart: async () => {
      await stop('SIGINT')
      running = await start()
    },
  }
}
