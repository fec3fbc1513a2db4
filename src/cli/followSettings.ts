import { UsageError } from '../lib/errors.js'
import { packageVersion } from '../store/packageVersion.js'
import type { L2FollowSettings } from '../sync/follow/l2/l2Following.js'
import type { FollowSettings } from '../sync/follow/runFollower.js'
import type { Config } from './config.js'

/** Returns true if the options name an upstream to follow, or a consensus client that drives the chain. */
export function isFollowing({ upstream, l2Upstream, l2Feeder, engineApi }: Config): boolean {
  return upstream.length + l2Upstream.length + l2Feeder.length > 0 || engineApi !== undefined
}

/** Reads what to follow from the options. @throws UsageError for options that exclude each other and for a genesis file
 *  that cannot be read */
export async function readFollowSettings(config: Config): Promise<FollowSettings> {
  const { datadir, upstream, upstreamHeader, state, from, evm, stateCache, rootInterval, l2CoreContract } = config
  const headers = Object.fromEntries(upstreamHeader.map(({ name, value }) => [name, value]))
  return {
    datadir,
    upstreams: upstream.map((url) => ({ url, headers })),
    chain: await readChain(config),
    stateMode: state,
    from,
    stateFetch: config.stateFetch,
    stateFetchRate: config.stateFetchRate,
    offline: config.offline,
    logsState: config.replication || config.publish.length > 0 || config.replica.length > 0,
    evm,
    blockAccessLists: config.blockAccessLists,
    strict: config.strict,
    forkTimes: config.fork,
    addressIndex: config.addressIndex,
    traces: config.traces,
    stateCacheBytes: stateCache * 2 ** 20,
    rootInterval,
    senderThread: config.senderThread,
    coreContract: l2CoreContract,
    l2: readL2(config),
    engine: config.engineApi !== undefined,
    version: packageVersion(),
  }
}

function readL2({ l2Upstream, l2Feeder, l2Header, l2Network, l2Verify, l2From }: Config): L2FollowSettings | undefined {
  if (l2Upstream.length + l2Feeder.length === 0) return undefined
  const headers = Object.fromEntries(l2Header.map(({ name, value }) => [name, value]))
  const withHeaders = (urls: readonly string[]) => urls.map((url) => ({ url, headers }))
  return {
    rpc: withHeaders(l2Upstream),
    feeders: withHeaders(l2Feeder),
    network: l2Network,
    verify: l2Verify,
    from: l2From,
  }
}

async function readChain({ genesis, network, rollupConfig }: Config): Promise<FollowSettings['chain']> {
  if (rollupConfig !== undefined) {
    if (network !== undefined) throw new UsageError('--rollup-config and --network exclude each other')
    const { readRollupConfig } = await import('../sync/import/importFiles.js')
    return readRollupConfig(rollupConfig, genesis)
  }
  if (network === 'dev') return { development: true, ...(genesis !== undefined && (await readGenesis(genesis))) }
  if (genesis !== undefined && network !== undefined) throw new UsageError('--genesis and --network exclude each other')
  if (network !== undefined) return { network }
  return genesis === undefined ? undefined : readGenesis(genesis)
}

async function readGenesis(path: string): Promise<{ genesis: unknown }> {
  const { readGenesisFile } = await import('../sync/import/importFiles.js')
  return readGenesisFile(path)
}
