import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { createViewReader, LAKE_VIEWS } from '../../store/sql/lakeViews.js'
import { nullable } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'

const TYPES = { integer: 'i64', real: 'f64', text: 'string' } as const

/** The views as datasets of a lake: a row of a file is a row of the view. Their source is a connection with the views
 *  of `openForQueries`. */
export const LAKE_DATASETS: readonly Dataset<StoredBlockLink>[] = LAKE_VIEWS.map((view) => ({
  name: view.name,
  fileName: view.name,
  summary: `The rows of ${view.name}.`,
  columns: [...view.columns, ...view.derived].flatMap(({ name, type }) => nullable(TYPES[type], name)),
  layer: LAYER_1,
  batchBlocks: () => 16,
  rows: ({ db }, links) => createViewReader(db).rows(view, links[0].number, links[links.length - 1].number),
}))
