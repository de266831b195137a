module drive

go 1.25
