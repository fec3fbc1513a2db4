/** Classes that limits of API keys accept besides names of methods. `sql`, `bulk` and `replication` have no methods and
 *  stand for paths. */
export const CLASS_NAMES = [
  'logs',
  'calls',
  'traces',
  'state',
  'blocks',
  'stream',
  'send',
  'abi',
  'node',
  'sql',
  'bulk',
  'replication',
] as const

export type ClassName = (typeof CLASS_NAMES)[number]

/** A class that methods are in: `logs` searches logs or events; `calls` runs invented calls; `traces` executes blocks
 *  again; `state` reads accounts and slots; `blocks` reads blocks, transactions and receipts; `stream` needs the
 *  session of a connection; `send` accepts transactions; `abi` adds ABIs, and must be named; `node` is the rest. */
export type MethodClass = Exclude<ClassName, 'sql' | 'bulk' | 'replication'>

/** A class that a call belongs to by its parameters, besides those of its method: a subscription to logs. */
export function classByParams(method: string, params: unknown): MethodClass | undefined {
  if (method !== 'eth_subscribe' || typeof params !== 'object' || params === null) return undefined
  const topic = Array.isArray(params) ? params[0] : (params as { name?: unknown }).name
  return topic === 'logs' ? 'logs' : undefined
}
