import { statSync } from 'node:fs'
import { ADDRESS_INDEX } from '../../index/addresses/appearanceIndex.js'
import { LOG_SEARCH_INDEX } from '../../index/logs/logSearchIndex.js'
import { describeIndex } from '../../index/segments/indexSummary.js'
import { TRANSACTION_INDEX } from '../../index/transactions/transactionIndex.js'
import type { Metrics } from '../../lib/metrics.js'
import { resolveNumber } from '../../rpc/core/blockId.js'
import type { RpcContext } from '../../rpc/core/context.js'
import type { Database } from '../../store/database.js'
import { createGrowthForecast } from '../../store/growthForecast.js'
import { packageVersion } from '../../store/packageVersion.js'

/** Registers metrics of the chain, the files and the indexes of an open database. Values are read at scrape time, about
 *  1 ms in total. */
export function registerDatabaseMetrics(
  metrics: Metrics,
  { context, db }: { context: RpcContext; db: Database },
): void {
  const { chain, l2 } = context
  metrics.gauge('cairn_info', 'Version of Cairn and of Node.js; always 1.', () => [
    [{ version: packageVersion(), node: process.versions.node }, 1],
  ])
  const timestamp = () => {
    const head = chain.head()
    const block = head === undefined ? undefined : chain.blockByNumber(head)
    return block && Number(block.header.timestamp)
  }
  metrics.gauge('cairn_first_block_number', 'First block stored.', () => chain.coverage()?.first)
  metrics.gauge('cairn_head_block_number', 'Newest block stored.', () => chain.head())
  metrics.gauge('cairn_safe_block_number', 'Number of the safe block.', () => resolveNumber(chain, 'safe'))
  metrics.gauge('cairn_finalized_block_number', 'Number of the finalized block.', () =>
    resolveNumber(chain, 'finalized'),
  )
  metrics.gauge('cairn_head_timestamp_seconds', 'Timestamp of the newest block, in Unix time.', timestamp)
  metrics.gauge('cairn_head_age_seconds', 'Time since the timestamp of the newest block.', () => {
    const seconds = timestamp()
    return seconds === undefined ? undefined : Date.now() / 1000 - seconds
  })
  metrics.gauge('cairn_l2_head_block_number', 'Newest layer-2 block stored.', () => l2.head()?.number)

  metrics.gauge('cairn_database_bytes', 'Sizes of the files of the database.', () =>
    (['', '-wal', '-shm'] as const).map((suffix) => [
      { file: suffix === '' ? 'db' : suffix.slice(1) },
      statSync(`${db.name}${suffix}`, { throwIfNoEntry: false })?.size ?? 0,
    ]),
  )
  const pragma = (name: string) => db.pragma(name, { simple: true }) as number
  metrics.gauge('cairn_database_page_bytes', 'Size of a page of the database.', () => pragma('page_size'))
  metrics.gauge('cairn_database_pages', 'Pages of the database.', () => pragma('page_count'))
  metrics.gauge('cairn_database_free_pages', 'Unused pages of the database.', () => pragma('freelist_count'))
  const forecast = createGrowthForecast(db, chain)
  metrics.gauge('cairn_disk_free_bytes', 'Free bytes on the disk of the database.', () => forecast()?.freeBytes)
  metrics.gauge(
    'cairn_disk_full_seconds',
    'Time until the disk is full at the pace of the newest 1,000 blocks; absent while the newest one is older than a day.',
    () => {
      const daysLeft = forecast()?.daysLeft
      return daysLeft == null ? undefined : daysLeft * 86_400
    },
  )
  registerIndexMetrics(metrics, db)
}

function registerIndexMetrics(metrics: Metrics, db: Database): void {
  const kinds = { logs: LOG_SEARCH_INDEX, transactions: TRANSACTION_INDEX, addresses: ADDRESS_INDEX }
  for (const [name, kind] of Object.entries(kinds)) {
    const labels = { index: name }
    const index = () => describeIndex(db, kind)
    metrics.gauge('cairn_index_segments', 'Segments of an index by state.', () => {
      const { levels, building, dropped } = index()
      const live = levels.reduce((sum, { segments }) => sum + segments, 0)
      return Object.entries({ live, building, dropped }).map(([state, count]) => [{ ...labels, state }, count])
    })
    metrics.gauge(
      'cairn_index_items',
      'Logs and transactions in segments (sealed) and not yet in segments (tail).',
      () => {
        const { sealed, tail } = index()
        return Object.entries({ sealed, tail }).map(([place, count]) => [{ ...labels, place }, count])
      },
    )
  }
}
