import { familyOf } from '../chain/eth/families/families.js'
import type { ForkTimes } from '../chain/eth/forkSchedule.js'
import type { Fork } from '../chain/eth/forks/rules.js'
import { UsageError } from '../lib/errors.js'
import type { Database } from '../store/database.js'
import { createMetaTable, META_CHAIN, META_FORK_TIMES } from '../store/meta.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { type ChainSource, specOfSource } from '../store/rows/chainSource.js'

/** Returns the chain as it is named, without the operator's fork times. */
export function withoutForkTimes({ forkTimes: _, ...source }: ChainSource): ChainSource {
  return source
}

/** Returns the chain with those times of forks, besides the ones set before; stores them unless the database is new.
 *  @throws UsageError when the newest block is at or after a time that changes, since blocks were checked by the rules
 *  of the other one */
export function setForkTimes(db: Database, source: ChainSource, times: ForkTimes): ChainSource {
  requireOwnForks(source, times)
  const changed = { ...source, forkTimes: { ...source.forkTimes, ...times } }
  const meta = createMetaTable(db)
  if (meta.get(META_CHAIN) === undefined) return changed
  const [before, after] = [source, changed].map((each) => new Map(timesOf(each)))
  const chain = createChainReader(db)
  const head = chain.head() === undefined ? undefined : chain.blockByNumber(chain.head()!)
  for (const fork of Object.keys(times) as Fork[]) {
    const [old, now] = [before.get(fork), after.get(fork)]
    if (old === now || head === undefined) continue
    const first = old === undefined || (now !== undefined && now < old) ? now! : old
    if (head.header.timestamp < first) continue
    throw new UsageError(
      `--fork ${fork}=${now ?? 'never'}: the blocks from time ${first} on were checked with ${fork} at ${old ?? 'never'}; remove ` +
        "them with 'cairn rewind', or use another --datadir",
    )
  }
  meta.set(META_FORK_TIMES, changed.forkTimes)
  return changed
}

/** The times of Ethereum's forks follow from those of the family, where it has forks of its own. */
function requireOwnForks(source: ChainSource, times: ForkTimes): void {
  const { forkKeys, title } = familyOf(specOfSource(source))
  const [fork] = Object.keys(times)
  if (forkKeys === undefined || fork === undefined) return
  throw new UsageError(`--fork ${fork}: the forks of ${title} are in --rollup-config, or in the config of --genesis`)
}

function timesOf(source: ChainSource): [Fork, bigint][] {
  return specOfSource(source).activations.flatMap(({ fork, timestamp }) =>
    timestamp === undefined ? [] : [[fork, timestamp]],
  )
}
