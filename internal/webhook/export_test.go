package webhook

// PruneSome is Prune that deletes no more than so many.
var PruneSome = prune
