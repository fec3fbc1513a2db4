/* docs/schema.md describes the schema. `npm run migration` generates migrations from these files. Tables marked WITHOUT
 * ROWID are edited by hand in the migration, since drizzle cannot express it. */

export * from './schema/chain.js'
export * from './schema/indexes.js'
export * from './schema/layer2.js'
export * from './schema/operator.js'
export * from './schema/state.js'
