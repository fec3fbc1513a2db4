CREATE TABLE `trie_page_versions` (
	`page_id` integer NOT NULL,
	`block_number` integer NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `trie_page_versions_by_page` ON `trie_page_versions` (`page_id`,`block_number`);--> statement-breakpoint
CREATE INDEX `trie_page_versions_by_block` ON `trie_page_versions` (`block_number`);