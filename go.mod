module tocsin

go 1.26
