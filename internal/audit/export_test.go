package audit

// PruneSome is Prune with the largest number of entries to delete.
var PruneSome = prune
