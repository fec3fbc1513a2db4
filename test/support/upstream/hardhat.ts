import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatQuantity } from '../../../src/lib/hex.js'
import { spawnProgram } from '../cairn.js'
import { installPackage } from '../npmPackage.js'
import { resultOf } from '../rpcClient.js'
import { temporaryDirectory } from '../temporary.js'
import type { Peer } from './followPeer.js'

// Later ones of version 2 lose the configured forks on the way to their interpreter; version 3 needs Node 22.
const VERSION = '2.26.5'

/** The folder of Hardhat, which is installed when it is not there; undefined when it cannot be had. */
export function findHardhat(): string | undefined {
  return installPackage('hardhat', VERSION)
}

type After = { after(callback: () => void | Promise<void>): void }

/** Starts `hardhat node` with the settings of its network, ended with the test; the URL. */
export async function startHardhat(t: After, folder: string, network: object): Promise<string> {
  const config = join(temporaryDirectory(t), 'hardhat.config.js')
  writeFileSync(config, `module.exports = ${JSON.stringify({ solidity: '0.8.30', networks: { hardhat: network } })}`)
  const program = join(folder, 'internal', 'cli', 'bootstrap.js')
  const args = [program, '--config', config, 'node', '--hostname', '127.0.0.1', '--port', '0']
  const env = { HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' }
  const { child, ended, waitFor } = spawnProgram(process.execPath, args, { env, cwd: folder })
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const [, address] = await waitFor('stdout', /server at (http:\S+)\//)
  return address
}

/** Hardhat as a peer: it mines each transaction at once. It answers a failing transaction with an error that has its
 *  hash. */
export async function startHardhatPeer(t: After, folder: string): Promise<Peer> {
  const url = await startHardhat(t, folder, { throwOnTransactionFailures: false, throwOnCallFailures: false })
  const [from] = await resultOf<string[]>(url, 'eth_accounts')
  return {
    url,
    wsUrl: url.replace('http', 'ws'),
    mine: async (transactions) => {
      const hashes: string[] = []
      for (const each of transactions)
        hashes.push(await resultOf<string>(url, 'eth_sendTransaction', [{ from, ...each }]))
      return hashes
    },
    reorg: async (depth) => void (await resultOf(url, 'hardhat_reset', [formatQuantity(depth)])),
    // Methods that it lacks; its size of a block is two bytes too small, and a creation that fails has no address.
    faults:
      /^(\w+ expected error \{"code":-32004,"message":"Method \w+ is not supported"|eth_getBlockBy\w+ result\.size:|eth_getTransactionReceipt result\.contractAddress: expected null,)/,
  }
}
