import { accessOptions } from './options/access.js'
import { chainOptions } from './options/chain.js'
import { checksOptions } from './options/checks.js'
import { databaseOptions } from './options/database.js'
import { engineOptions } from './options/engine.js'
import { executionOptions } from './options/execution.js'
import { exportOptions } from './options/export.js'
import { layer2Options } from './options/layer2.js'
import { memoryOptions } from './options/memory.js'
import { networkOptions } from './options/network.js'
import { objectsOptions } from './options/objects.js'
import type { Command, Option } from './options/option.js'
import { outputOptions } from './options/output.js'
import { replicationOptions } from './options/replication.js'
import { requestsOptions } from './options/requests.js'
import { sinkOptions } from './options/sink.js'
import { sqlOptions } from './options/sql.js'
import { upstreamOptions } from './options/upstream.js'

/** Option tables by their heading in help and the reference page, in this order. */
export const OPTION_GROUPS = {
  Database: databaseOptions,
  Chain: chainOptions,
  Upstream: upstreamOptions,
  'Consensus client': engineOptions,
  Replication: replicationOptions,
  Sink: sinkOptions,
  Execution: executionOptions,
  'Layer 2': layer2Options,
  Network: networkOptions,
  Access: accessOptions,
  'Threads and memory': memoryOptions,
  'Limits of requests': requestsOptions,
  Checks: checksOptions,
  Export: exportOptions,
  'Snapshots and object storage': objectsOptions,
  SQL: sqlOptions,
  Output: outputOptions,
} as const

type Table = (typeof OPTION_GROUPS)[keyof typeof OPTION_GROUPS]
type KeyOf<T> = T extends Table ? keyof T : never

/** The key of an option in `Config`. */
export type OptionKey = KeyOf<Table>

/** The value of every option. */
export type Config = { [K in OptionKey]: Extract<Table, Record<K, unknown>>[K] extends Option<infer T> ? T : never }

/** Returns all options, in the order of the groups. Parsing, help and the reference page are generated from them. */
export function listOptions(): [OptionKey, Option<unknown>][] {
  return Object.values(OPTION_GROUPS).flatMap((table) => Object.entries(table)) as [OptionKey, Option<unknown>][]
}

/** Returns the options of a command, in the order of the groups. */
export function optionsOf(command: Command): Option<unknown>[] {
  return listOptions()
    .map(([, option]) => option)
    .filter(({ commands }) => commands.includes(command))
}
